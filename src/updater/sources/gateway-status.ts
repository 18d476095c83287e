import { type Address, type Family, families, parseAddress } from "../../core/addresses/address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { isInNetwork, parseNetwork } from "../../core/addresses/network.ts";
import { isObject } from "../../core/is-object.ts";

/** What OPNsense's `routes/gateway/status` says about one gateway. */
export type GatewayStatus = {
  /** With the device behind a `%` if it is link-local. Undefined if the gateway has none at the moment. */
  readonly address: string | undefined;
  readonly isDown: boolean;
};

/** Undefined if it is not such an answer. */
export function readGatewayStatus(body: string): readonly GatewayStatus[] | undefined {
  const wire = parsed(body);
  // OPNsense answers `{items: [], status: "failed"}` if its backend does not report the gateways.
  const isState = isObject(wire) && Array.isArray(wire.items) && wire.status !== "failed";
  const items = isState ? (wire.items as readonly unknown[]) : undefined;
  if (!items?.every(isItem)) return undefined;
  return items.map(({ address, status }) => ({
    address: address === "~" || address === "" ? undefined : address,
    // `loss` and `delay` are warnings: the line works.
    isDown: status === "down" || status === "force_down",
  }));
}

type Item = { readonly address: string; readonly status: string };

const isItem = (value: unknown): value is Item =>
  isObject(value) && typeof value.address === "string" && typeof value.status === "string";

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A network that an interface is directly connected to, or the other end of its point-to-point link. */
export type Line = { readonly device: string; readonly network: string };

function lineOf(gateway: Address, lines: readonly Line[]): Line | undefined {
  return lines.find(({ network }) => {
    const parsedNetwork = parseNetwork(network);
    return parsedNetwork !== undefined && isInNetwork(gateway, parsedNetwork);
  });
}

/**
 * The lines in OPNsense's interface report: addresses with the length of their prefix, and the ends of tunnels. The
 * overview is a list, and also names the gateways of each interface.
 */
export function linesIn(body: string): readonly Line[] {
  const wire = parsed(body);
  const rows = Array.isArray(wire)
    ? wire.map((row: unknown) => [isObject(row) ? row.device : undefined, row] as const)
    : Object.entries(isObject(wire) ? wire : {});
  return rows.flatMap(([device, row]) => {
    if (typeof device !== "string" || !isObject(row)) return [];
    const entries = families.flatMap((family) => listIn(row[family])).flatMap((entry) => networksIn(entry, device));
    const named = listIn(row.gateways).flatMap((network) => (typeof network === "string" ? [{ device, network }] : []));
    return [...named, ...entries];
  });
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function networksIn(entry: unknown, device: string): readonly Line[] {
  if (!isObject(entry) || typeof entry.ipaddr !== "string") return [];
  const ends = [entry.endpoint, entry.endpoint2].filter((end) => typeof end === "string");
  // The overview has the length in the same text.
  const length = entry.ipaddr.includes("/")
    ? ""
    : typeof entry.subnetbits === "number"
      ? `/${entry.subnetbits}`
      : "/128";
  return [...ends, `${entry.ipaddr}${length}`].map((network) => ({ device, network }));
}

/**
 * The report with the state of the gateways of each line. A line is dead for a family if it has a gateway of this
 * family that is down, and none that is not.
 */
export function withGateways(
  report: InterfaceReport,
  gateways: readonly GatewayStatus[],
  lines: readonly Line[],
): InterfaceReport {
  const usableGateways = gateways.flatMap(({ address = "", isDown }) => {
    const [text = "", scope] = address.split("%");
    const parsed = parseAddress(text);
    const device = scope ?? (parsed && lineOf(parsed, lines)?.device);
    return parsed && device !== undefined ? [{ family: parsed.family, device, isDown }] : [];
  });
  return new Map(
    [...report].map(([device, each]) => {
      const isDead = (family: Family): boolean => {
        const own = usableGateways.filter((gateway) => gateway.device === device && gateway.family === family);
        return own.length > 0 && own.every(({ isDown }) => isDown);
      };
      return [device, { ...each, deadGateways: families.filter(isDead) }];
    }),
  );
}
