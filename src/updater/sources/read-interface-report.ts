import { type ReadableInterface, reportFromWire } from "../../contract/interfaces-client.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { isObject } from "../../core/is-object.ts";
import { repeatedKey } from "../../core/repeated-key.ts";
import { showable } from "./showable.ts";

type Read =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unreadable"; readonly because: string };

/** One wrong type makes the whole answer unreadable, and an unreadable answer changes no record. */
export function readInterfaceReport(body: string): Read {
  let wire: unknown;
  try {
    wire = JSON.parse(body, (_, value) => (typeof value === "string" ? showable(value) : value));
  } catch {
    return { kind: "unreadable", because: "the firewall's answer is not JSON, or was cut off" };
  }
  const twice = repeatedKey(body);
  if (twice !== undefined) {
    return { kind: "unreadable", because: `the firewall's answer has "${showable(twice)}" twice in one object` };
  }
  // OPNsense writes an empty report as a list. It is a report in which every interface is unknown.
  if (Array.isArray(wire) && wire.length === 0) return { kind: "report", report: new Map() };
  if (!isObject(wire)) return { kind: "unreadable", because: "the firewall's answer is not a list of interfaces" };
  const entries = Object.entries(wire).map(([key, value]) => [showable(key), value] as const);
  const fault = entries.map(([device, value]) => faultIn(device, value)).find((text) => text !== undefined);
  if (fault) return { kind: "unreadable", because: `the firewall's answer is malformed: ${fault}` };
  const shown = Object.fromEntries(entries) as Readonly<Record<string, ReadableInterface>>;
  return { kind: "report", report: reportFromWire(shown) };
}

function faultIn(device: string, value: unknown): string | undefined {
  if (!isObject(value)) return `${device} is not an object`;
  if (value.flags !== undefined && !isTexts(value.flags)) return `${device}.flags is not a list of strings`;
  if (value.carp !== undefined && !isCarp(value.carp)) return `${device}.carp does not list a status per VHID`;
  for (const family of ["ipv4", "ipv6"] as const) {
    const list = value[family] ?? [];
    if (!Array.isArray(list)) return `${device}.${family} is not a list`;
    for (const [index, entry] of list.entries()) {
      const fault = faultInEntry(entry);
      if (fault) return `${device}.${family}[${index}]${fault}`;
    }
  }
  return undefined;
}

const flagNames = ["link-local", "deprecated", "tentative", "detached"] as const;

function faultInEntry(entry: unknown): string | undefined {
  if (!isObject(entry)) return " is not an object";
  if (typeof entry.ipaddr !== "string") return ".ipaddr is not a string";
  if (!["string", "undefined"].includes(typeof entry.vhid)) return ".vhid is not a string";
  if (!["number", "undefined"].includes(typeof entry.subnetbits)) return ".subnetbits is not a number";
  for (const flag of flagNames) {
    if (!["boolean", "undefined"].includes(typeof entry[flag])) return `.${flag} is neither true nor false`;
  }
  return undefined;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** PHP writes an empty map as a list. */
export const isCarp = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.values(value).every((entry) => isObject(entry) && typeof entry.status === "string"));
