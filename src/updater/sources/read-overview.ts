import { carpFromWire, type ReadableInterface } from "../../contract/interfaces-client.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import type { InterfaceReport, ReportedInterface, ReportedIpv6 } from "../../core/addresses/interface-report.ts";
import { isObject } from "../../core/is-object.ts";
import { repeatedKey } from "../../core/repeated-key.ts";
import { isCarp } from "./read-interface-report.ts";
import { showable } from "./showable.ts";

type Read =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unreadable"; readonly because: string };

type Row = Readonly<Record<string, unknown>>;

/**
 * OPNsense's `interfaces/overview/export`, since 24.1: a list of interfaces, whose addresses are `address/length`. It
 * says nothing about lifetimes, and in most releases nothing about deprecated and tentative addresses. Then only
 * `addr6` is used: the address that OPNsense itself chose among the usable ones.
 */
export function readOverview(body: string): Read {
  const unreadable = (because: string): Read => ({ kind: "unreadable", because });
  let wire: unknown;
  try {
    wire = JSON.parse(body, (_, value) => (typeof value === "string" ? showable(value) : value));
  } catch {
    return unreadable("the firewall's answer is not JSON, or was cut off");
  }
  const twice = repeatedKey(body);
  if (twice !== undefined) return unreadable(`the firewall's answer has "${showable(twice)}" twice in one object`);
  if (!Array.isArray(wire)) return unreadable("the firewall's answer is not an overview of interfaces");
  const rows: readonly unknown[] = wire;
  const fault = rows.map(faultIn).find((text) => text !== undefined);
  if (fault !== undefined) return unreadable(`the firewall's answer is malformed: ${fault}`);
  // An interface that is not assigned may have no device.
  const namedRows = (rows as readonly Row[]).filter(({ device }) => typeof device === "string" && device !== "");
  return { kind: "report", report: new Map(namedRows.map((row) => [String(row.device), fromRow(row)])) };
}

function faultIn(row: unknown): string | undefined {
  if (!isObject(row)) return "an interface is not an object";
  const device = typeof row.device === "string" ? row.device : "an interface";
  for (const family of ["ipv4", "ipv6"] as const) {
    const list = row[family] ?? [];
    if (!Array.isArray(list)) return `${device}.${family} is not a list`;
    if (!list.every((each) => isObject(each) && typeof each.ipaddr === "string"))
      return `${device}.${family} has an entry without an address`;
  }
  if (!["string", "undefined"].includes(typeof row.addr6)) return `${device}.addr6 is not a string`;
  if (row.carp !== undefined && !isCarp(row.carp)) return `${device}.carp does not list a status per VHID`;
  return undefined;
}

type AddressRow = Row & { readonly ipaddr: string };

function fromRow(row: Row): ReportedInterface {
  const list = (family: "ipv4" | "ipv6") => (row[family] ?? []) as readonly AddressRow[];
  const vhidOf = ({ vhid }: AddressRow) => (typeof vhid === "string" && vhid !== "" ? { vhid } : {});
  return {
    device: String(row.device),
    up: row.enabled !== false && row.status !== "down" && row.status !== "no carrier",
    ipv4: list("ipv4").map((entry) => ({ text: addressIn(entry.ipaddr), ...vhidOf(entry) })),
    ipv6: ipv6Of(list("ipv6"), typeof row.addr6 === "string" ? addressIn(row.addr6) : ""),
    ...carpFromWire(row.carp as ReadableInterface["carp"]),
  };
}

const flags = ["deprecated", "tentative"] as const;

function ipv6Of(entries: readonly AddressRow[], main: string): readonly ReportedIpv6[] {
  return entries.flatMap((entry): readonly ReportedIpv6[] => {
    const text = addressIn(entry.ipaddr);
    const isKnown = flags.every((flag) => typeof entry[flag] === "boolean");
    const isMain = main !== "" && parseAddress(main)?.text === parseAddress(text)?.text;
    const linkLocal = /^fe[89ab]/i.test(text);
    if (!isKnown && !isMain && !linkLocal) return [];
    const length = Number(entry.ipaddr.split("/")[1]);
    return [
      {
        text,
        linkLocal,
        deprecated: entry.deprecated === true,
        tentative: entry.tentative === true,
        detached: entry.detached === true,
        ...(Number.isInteger(length) && { prefixLength: length }),
        ...(typeof entry.vhid === "string" && entry.vhid !== "" && { vhid: entry.vhid }),
      },
    ];
  });
}

const addressIn = (text: string): string => text.split("/")[0] ?? "";
