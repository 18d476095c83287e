import type { InterfaceReport, ReportedInterface, ReportedIpv6 } from "../../../core/addresses/interface-report.ts";
import { isObject } from "../../../core/is-object.ts";
import { showable } from "../showable.ts";

type Read =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unreadable"; readonly because: string };

/** The answer to `network.interface dump` of netifd. One wrong type makes all of it unreadable. */
export function readInterfaceDump(data: unknown): Read {
  const list = isObject(data) ? data.interface : undefined;
  if (!Array.isArray(list)) return { kind: "unreadable", because: "it has no list of interfaces" };
  const report = new Map<string, ReportedInterface>();
  for (const each of list as readonly unknown[]) {
    if (!isObject(each) || typeof each.interface !== "string") {
      return { kind: "unreadable", because: "an interface has no name" };
    }
    const device = showable(each.interface);
    const read = interfaceOf(device, each);
    if (typeof read === "string") return { kind: "unreadable", because: `${device}: ${read}` };
    report.set(device, read);
  }
  return { kind: "report", report };
}

type Fields = Readonly<Record<string, unknown>>;

/** A string says what is wrong. */
function interfaceOf(device: string, fields: Fields): ReportedInterface | string {
  if (typeof fields.up !== "boolean") return "up is neither true nor false";
  const ipv4 = entriesIn(fields, "ipv4-address");
  const ipv6 = entriesIn(fields, "ipv6-address");
  const delegated = entriesIn(fields, "ipv6-prefix");
  const assigned = entriesIn(fields, "ipv6-prefix-assignment");
  const wrong = [ipv4, ipv6, delegated, assigned].find((each) => typeof each === "string");
  if (wrong !== undefined) return wrong as string;
  return {
    device,
    up: fields.up,
    ipv4: (ipv4 as readonly AddressEntry[]).map(({ address }) => ({ text: address })),
    ipv6: [
      ...(ipv6 as readonly AddressEntry[]).map(ipv6Of),
      ...(assigned as readonly AddressEntry[]).flatMap((each) =>
        each.local === undefined ? [] : [ipv6Of({ ...each, address: each.local })],
      ),
      ...(delegated as readonly AddressEntry[]).map((each) => ({ ...ipv6Of(each), delegated: true as const })),
    ],
  };
}

/** `local`: the router's own address in a network with a delegated prefix. */
type AddressEntry = {
  readonly address: string;
  readonly mask?: number;
  readonly preferred?: number;
  readonly valid?: number;
  readonly local?: string;
};

function entriesIn(fields: Fields, key: string): readonly AddressEntry[] | string {
  const list = fields[key] ?? [];
  if (!Array.isArray(list)) return `${key} is not a list`;
  const entries = (list as readonly unknown[]).map(entryOf);
  return entries.every((each) => each !== undefined) ? entries : `an entry of ${key} is malformed`;
}

function entryOf(value: unknown): AddressEntry | undefined {
  if (!isObject(value) || typeof value.address !== "string") return undefined;
  const numbers = ["mask", "preferred", "valid"].map((key) => [key, value[key]] as const);
  if (numbers.some(([, each]) => each !== undefined && typeof each !== "number")) return undefined;
  const local = value["local-address"];
  if (local !== undefined && !(isObject(local) && typeof local.address === "string")) return undefined;
  return {
    ...(Object.fromEntries(numbers.filter(([, each]) => each !== undefined)) as Partial<AddressEntry>),
    address: showable(value.address),
    ...(isObject(local) && { local: showable(String(local.address)) }),
  };
}

/** Without lifetimes it never expires; with a preferred lifetime of zero it is deprecated (RFC 4862, 5.5.4). */
const ipv6Of = ({ address, mask, preferred, valid }: AddressEntry): ReportedIpv6 => ({
  text: address,
  linkLocal: false,
  deprecated: preferred === 0,
  tentative: false,
  detached: false,
  validLifetime: valid,
  prefixLength: mask,
});
