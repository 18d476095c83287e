import { type Command, InvalidArgumentError, Option } from "commander";
import type { ServiceLink } from "../../contract/console.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import { type Network, parseNetwork } from "../../core/addresses/network.ts";
import { parseMailbox } from "../../core/names/mailbox.ts";
import { asAscii } from "../../core/names/unicode.ts";
import { type QuotaName, type Quotas, quotaNames, usualQuotas } from "../../core/quotas.ts";
import { tokenNameFault } from "../../core/read-scope.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";

/** A verb that works on the data folder of a service. */
export const dataVerb = (parent: Command, name: string, text: string): Command => onData(parent.command(name), text);

export const onData = (command: Command, text: string): Command =>
  command.description(text).option("--data <folder>", "the data folder of the service", readFolder, "./moor-data");

/** For the verbs that can create secondary zones; see `core/addresses/primary-address.ts`. */
export const whichTarget = ["--target <name>", "which record service in the config, if there are several"] as const;

export const allowPrimary = [
  "--allow-primary <network>",
  "also allow primary servers with addresses in this network, such as 10.0.0.0/8; public addresses are always allowed (may be repeated)",
  readNetworks,
  [] as readonly Network[],
] as const;
/** For verbs that can be the first on a store. */
export const newOption = ["--new", "create the store in the data folder if there is none yet"] as const;
export type NewOption = { readonly new?: boolean };
export const asJson = ["--json", "print JSON, for programs"] as const;

/** `127.0.0.1:8053`, `[::1]:8053`, `localhost:8053`; the port may be 0 for any free one. */
export function readListen(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError("It must be a host and a port, such as 127.0.0.1:8053 or [::1]:8053.");
  }
  return { host, port: Number(port) };
}

export const readListens = (text: string, before: readonly ListenAddress[]): readonly ListenAddress[] => [
  ...before,
  readListen(text),
];

/** `records.example.net`, as clients connect to it; or an address. */
export function readHosts(text: string, before: readonly string[]): readonly string[] {
  const name = asAscii(text).toLowerCase().replace(/\.$/, "");
  if (parseAddress(text) === undefined && !/^(?:\*\.)?[\w-]{1,63}(?:\.[\w-]{1,63})*$/.test(name)) {
    throw new InvalidArgumentError("It must be a host name or an address, such as records.example.net or 192.0.2.10.");
  }
  return [...before, name];
}

const linked = { dns: "records", firewall: "firewall", updater: "updater" } as const;

/** `firewall=https://router.example:8443`: where the pages of another service are. */
export function readLinks(text: string, before: readonly ServiceLink[]): readonly ServiceLink[] {
  const [, name, url = ""] = /^(dns|firewall|updater)=(.+)$/.exec(text) ?? [];
  if (name === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new InvalidArgumentError(
      "It must be dns, firewall or updater with a URL, such as firewall=https://router.example:8443.",
    );
  return [...before, { service: linked[name as keyof typeof linked], url, together: false }];
}

export function readNetworks(text: string, before: readonly Network[]): readonly Network[] {
  const network = parseNetwork(text);
  if (network === undefined) throw new InvalidArgumentError("It must be a network, such as 10.0.0.0/8, or an address.");
  return [...before, network];
}

/** Every value of an option that may be repeated. */
export const readEach = (text: string, before: readonly string[]): readonly string[] => [...before, text];

/** `dns@example.org`, as the domain name in an SOA. */
export function readMailbox(text: string): string {
  const mailbox = parseMailbox(text);
  if (!mailbox.ok) throw new InvalidArgumentError("It must be a mail address, such as dns@example.org.");
  return mailbox.value;
}

/** `300/min`, or `300`; `off` is 0. */
export function readRateLimit(text: string): number {
  if (text === "off") return 0;
  const [, calls] = /^([1-9]\d{0,8})(?:\/min)?$/.exec(text) ?? [];
  if (calls === undefined)
    throw new InvalidArgumentError("It must be a number of calls per minute, such as 300/min, or off.");
  return Number(calls);
}

/** More threads would not help. */
const mostWorkers = 64;

export function readWorkers(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= mostWorkers)) throw new InvalidArgumentError(`It must be a number of threads, 0 to ${mostWorkers}.`);
  return count;
}

export function readNsid(text: string): string {
  if (!/^[ -~]{1,64}$/.test(text))
    throw new InvalidArgumentError("It must have 1 to 64 letters, digits or signs of ASCII.");
  return text;
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError("It must be a number from 1 to 99999.");
  return Number(text);
}

export function readRecordCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a number of records, such as 100000.");
  return Number(text);
}

/** Adds `tokens=5000` to the quotas before it. */
function readQuota(text: string, before: Quotas): Quotas {
  const [, name, count] = /^([a-z-]+)=([1-9]\d{0,8})$/.exec(text) ?? [];
  if (count === undefined || !quotaNames.includes(name as QuotaName))
    throw new InvalidArgumentError(`It must be one of ${quotaNames.join(", ")} and a number, such as tokens=5000.`);
  return { ...before, [name as QuotaName]: Number(count) };
}

export const quotaOption = (text: string): Option =>
  new Option("--quota <what=count>", text).argParser(readQuota).default(usualQuotas, "see docs/dns-service.md");

/** Larger sets make every answer that has them expensive. */
const mostValuesPerSet = 2_500;

export function readValueCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > mostValuesPerSet)
    throw new InvalidArgumentError(`It must be a number of values from 1 to ${mostValuesPerSet}, such as 200.`);
  return Number(text);
}

export const repeated = (text: string, before: readonly string[]): readonly string[] => [...before, text];

export function readAccountName(text: string): string {
  if (text.trim() === "" || /\p{Control}/u.test(text))
    throw new InvalidArgumentError("It must be the name of an account, such as main.");
  return text;
}

export function readTokenName(text: string): string {
  const wrong = tokenNameFault(text);
  if (wrong !== undefined) throw new InvalidArgumentError(`Please ${wrong}.`);
  return text.trim();
}

export function readKeyName(text: string): string {
  if (tokenNameFault(text) !== undefined)
    throw new InvalidArgumentError("It must be a name of at most 100 characters, without control characters.");
  return text.trim();
}

/** An empty path, as from an unset variable, would be the current folder. */
export function readFolder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must be a folder, such as ./moor-data.");
  return text;
}

/** As `readFolder`, for files. */
export function readPath(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must be a path.");
  return text;
}

export function readKeyTag(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError("It must be a key tag, such as 12345.");
  return Number(text);
}

export type LogFlags = { readonly logFormat: "text" | "json" };

export function logOptions(command: Command): Command {
  return command.addOption(
    new Option("--log-format <format>", "the format of log lines").choices(["text", "json"]).default("text"),
  );
}
