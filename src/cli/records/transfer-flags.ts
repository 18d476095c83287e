import { type Network, parseNetwork } from "../../core/addresses/network.ts";
import { parseName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import type { NotifyTarget } from "../../nameserver/transfer/notify-out.ts";
import { defaultCatalog } from "../../serving/catalog.ts";
import type { TlsPrimary } from "../../serving/secondaries.ts";
import type { TransferOptions } from "../../serving/start.ts";
import { readListen } from "../io/options.ts";

/** As on the command line of `moor records`. */
export type TransferFlags = {
  readonly transferTo: readonly string[];
  readonly notify: readonly string[];
  /** True when no name is given. */
  readonly catalog?: string | true;
  readonly allowPrimary: readonly Network[];
  readonly primaryTls?: readonly string[];
};

export function readTransferFlags(flags: TransferFlags): Result<TransferOptions> {
  const { transferTo, notify, catalog, allowPrimary: allowedPrimaries } = flags;
  const networks = transferTo.map(readNetwork);
  const targets = notify.map(readTarget);
  const overTls = (flags.primaryTls ?? []).map(readTlsPrimary);
  const name =
    catalog === undefined
      ? ok(undefined)
      : catalog === true
        ? ok(defaultCatalog)
        : parseTyped(parseName, catalog, "--catalog");
  const faults = [...networks, ...targets, ...overTls, name].flatMap((each) => (each.ok ? [] : each.faults));
  if (faults.length > 0 || !name.ok) return fail(...faults);
  const good = <T>(all: readonly Result<T>[]) => all.flatMap((each) => (each.ok ? [each.value] : []));
  return ok({
    networks: good(networks),
    notify: good(targets),
    catalog: name.value,
    allowedPrimaries,
    primariesOverTls: good(overTls),
  });
}

function readNetwork(text: string) {
  const network = parseNetwork(text);
  if (network !== undefined) return ok(network);
  return fail(fault("--transfer-to", `${text} is not a network`, "write one such as 192.0.2.0/24, or an address"));
}

/** `192.0.2.53:53`, or with the name of a key after a comma. */
function readTarget(text: string): Result<NotifyTarget> {
  const [at = "", named] = text.split(",", 2);
  const keyName = named === undefined ? ok(undefined) : parseName(named, "--notify");
  if (!keyName.ok) return keyName;
  try {
    return ok({ ...readListen(at), keyName: keyName.value });
  } catch {
    return fail(
      fault("--notify", `${at} is not an address with a port`, "write one such as 192.0.2.53:53 or [2001:db8::53]:53"),
    );
  }
}

/** `192.0.2.53:853`, or with the pin of its certificate after a comma: `sha256/` and base64. */
function readTlsPrimary(text: string): Result<TlsPrimary> {
  const [at = "", pin] = text.split(",", 2);
  const isPin = pin === undefined || /^sha256\/[A-Za-z0-9+/]{43}=$/.test(pin);
  try {
    if (isPin) return ok({ ...readListen(at), pin: pin?.slice("sha256/".length) });
  } catch {
    // Both parts have one advice.
  }
  return fail(
    fault(
      "--primary-tls",
      `${text} is not a server with TLS`,
      "write one such as 192.0.2.53:853, or 192.0.2.53:853,sha256/PIN",
    ),
  );
}

const fault = (where: string, message: string, todo: string): Fault => ({ code: "bad-option", where, message, todo });
