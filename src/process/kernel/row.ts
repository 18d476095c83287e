import { isObject } from "../../core/is-object.ts";

/**
 * One network device as the kernel describes it, in the format of `ip -json -details -statistics addr`. Only the fields that moor
 * needs are declared; others are ignored. Fields that not every device or kernel has are optional.
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

/** Parses the output of `ip`. Anything but a list of devices throws: invalid output never means "no devices". */
export function parseKernelRows(text: string): readonly KernelRow[] {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) throw new Error("not a list of devices");
  // Some releases print `{}` for a device that disappears during the listing.
  const rows: readonly unknown[] = parsed.filter((row) => !isObject(row) || Object.keys(row).length > 0);
  return rows.map((row, at) => {
    if (isKernelRow(row)) return row;
    throw new Error(`not a list of devices: entry ${at + 1} is invalid`);
  });
}

function isKernelRow(row: unknown): row is KernelRow {
  return (
    isObject(row) &&
    fits(row, rowFields) &&
    fits(row.linkinfo ?? {}, linkFields) &&
    fits(row.stats64 ?? {}, counterFields) &&
    Array.isArray(row.flags) &&
    row.flags.every((flag) => typeof flag === "string") &&
    Array.isArray(row.addr_info) &&
    row.addr_info.every((address) => fits(address, addressFields))
  );
}

function fits(value: unknown, fields: Readonly<Record<string, Kind>>): boolean {
  return (
    isObject(value) &&
    Object.entries(fields).every(([key, kind]) => {
      const found = value[key];
      if (found === undefined) return kind.endsWith("?");
      return kind.startsWith("object") ? isObject(found) : kind.startsWith(typeof found);
    })
  );
}
