import { isObject } from "../../core/is-object.ts";
import { parseIpJson } from "./ip-json.ts";

/**
 * One network device as the kernel describes it, in the format of `ip -json -details -statistics addr`. Only the fields
 * that moor needs are declared; others are ignored. Fields that not every device or kernel has are optional.
 */
export type KernelRow = {
  readonly ifindex?: number;
  readonly ifname: string;
  /** The device below: a VLAN's parent, a veth's other end. */
  readonly link?: unknown;
  /** The network namespace of a veth's other end, if it is not this one. */
  readonly link_netnsid?: number;
  readonly master?: string;
  readonly flags: readonly string[];
  readonly mtu?: number;
  readonly txqlen?: number;
  readonly group?: string;
  readonly link_type?: string;
  readonly address?: string;
  readonly permaddr?: string;
  readonly promiscuity?: number;
  readonly linkinfo?: {
    readonly info_kind?: string;
    readonly info_data?: Readonly<Record<string, unknown>>;
    readonly info_slave_kind?: string;
    readonly info_slave_data?: Readonly<Record<string, unknown>>;
  };
  readonly stats64?: { readonly rx?: Counters; readonly tx?: Counters };
  /** From other sources than `ip`. */
  readonly details?: DeviceDetails;
  readonly addr_info: readonly KernelAddress[];
};

export type Counters = Readonly<Record<string, unknown>>;

export type DeviceDetails = {
  /** Mbit/s. */
  readonly speed?: number;
  readonly duplex?: "full" | "half";
  readonly ipv6?: Ipv6Settings;
};

/** As in /proc/sys/net/ipv6/conf/<device>. */
export type Ipv6Settings = {
  readonly disable_ipv6: number;
  readonly accept_ra: number;
  readonly forwarding: number;
  readonly addr_gen_mode: number;
  readonly accept_dad: number;
};

export type KernelAddress = {
  readonly family: string;
  readonly local: string;
  readonly prefixlen?: number;
  /** The other end of a point-to-point address. */
  readonly address?: string;
  readonly deprecated?: Mark;
  readonly tentative?: Mark;
  readonly dadfailed?: Mark;
  readonly temporary?: Mark;
  readonly mngtmpaddr?: Mark;
  readonly "stable-privacy"?: Mark;
  readonly protocol?: string;
  /** Seconds; 4294967295 means forever. Missing if unknown (no `ip`). */
  readonly valid_life_time?: number;
  readonly preferred_life_time?: number;
};

/** Presence counts: old releases of `ip` may print such a mark as null. */
type Mark = boolean | null;

export const isMarked = (mark: Mark | undefined): boolean => mark !== undefined && mark !== false;

type Kind = "string" | "string?" | "number?" | "object?";

// Checked by hand: a schema library for this one input would take a tenth of the service's memory.
const rowFields: Partial<Record<keyof KernelRow, Kind>> = {
  ifindex: "number?",
  ifname: "string",
  link_netnsid: "number?",
  master: "string?",
  mtu: "number?",
  txqlen: "number?",
  group: "string?",
  link_type: "string?",
  address: "string?",
  permaddr: "string?",
  promiscuity: "number?",
  linkinfo: "object?",
  stats64: "object?",
};
const linkFields = {
  info_kind: "string?",
  info_data: "object?",
  info_slave_kind: "string?",
  info_slave_data: "object?",
} as const;
const counterFields = { rx: "object?", tx: "object?" } as const;
const addressFields: Partial<Record<keyof KernelAddress, Kind>> = {
  family: "string",
  local: "string",
  prefixlen: "number?",
  address: "string?",
  protocol: "string?",
  valid_life_time: "number?",
  preferred_life_time: "number?",
};

/**
 * Parses the output of `ip`. Anything but a list of devices throws, and so does a list without any readable device,
 * because every machine has one: invalid output never means "no devices". A device that cannot be read is left out, as
 * unknown: it never hides the others. So is one with an address that cannot be read; other fields that cannot be read
 * are left out of their device.
 */
export function parseKernelRows(text: string): readonly KernelRow[] {
  const parsed = parseIpJson(text);
  if (!Array.isArray(parsed)) throw new Error("not a list of devices");
  const rows = parsed.flatMap(readRow);
  if (rows.length === 0) throw new Error("not a list of devices: there is none that can be read");
  return rows;
}

function readRow(row: unknown): KernelRow[] {
  if (!isObject(row) || typeof row.ifname !== "string") return [];
  const { flags, addr_info, linkinfo, stats64 } = row;
  if (!Array.isArray(flags) || !flags.every((flag) => typeof flag === "string")) return [];
  if (!Array.isArray(addr_info) || !addr_info.every((address) => fits(address, addressFields))) return [];
  const readable = {
    ...whatFits(row, rowFields),
    ...(isObject(linkinfo) && { linkinfo: whatFits(linkinfo, linkFields) }),
    ...(isObject(stats64) && { stats64: whatFits(stats64, counterFields) }),
  };
  // `fits` has checked each field that has a type.
  return [readable as unknown as KernelRow];
}

/** The value without the fields that are of another kind. */
const whatFits = (value: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, Kind>>) =>
  Object.fromEntries(
    Object.entries(value).filter(
      ([key, found]) => fields[key] === undefined || fits({ [key]: found }, { [key]: fields[key] }),
    ),
  );

function fits(value: unknown, fields: Readonly<Record<string, Kind>>): boolean {
  return (
    isObject(value) &&
    Object.entries(fields).every(([key, kind]) => {
      const fieldValue = value[key];
      if (fieldValue === undefined) return kind.endsWith("?");
      return kind.startsWith("object") ? isObject(fieldValue) : kind.startsWith(typeof fieldValue);
    })
  );
}
