import { isScalar } from "yaml";
import type { Family } from "../../core/addresses/address.ts";
import { type HostPart, hostPartOfMac, parseHostPart, usualPrefixLength } from "../../core/addresses/host-part.ts";
import { mapping } from "../../lib/settings/mapping.ts";
import {
  integer,
  missing,
  oneOrMore,
  orShort,
  type Setting,
  type SettingPlace,
  type SettingType,
  text,
} from "../../lib/settings/setting.ts";
import { vhid } from "./rules.ts";

export type FamilyConfig = {
  readonly source: string;
  /** In order of preference. */
  readonly devices: readonly string[];
  /** More sources, in order of preference. */
  readonly others?: readonly FamilySource[];
  /** How many of the sources must report the same address. If set, their order does not matter. */
  readonly agree?: number | undefined;
  readonly recordId?: string;
  readonly vhid?: string;
  readonly host?: HostPart;
};

export type FamilySource = Pick<FamilyConfig, "source" | "devices">;

/**
 * The sources of a name, in order of preference. `agree`: regardless of order, this many must report the same address.
 */
export type Sources = { readonly names: readonly string[]; readonly agree?: number };

/** Without a source, the source of the name is used; without devices, the only device that the source knows. */
export type OwnFamily = Pick<FamilyConfig, "recordId" | "vhid" | "host"> & {
  readonly source?: Sources;
  readonly devices?: readonly string[];
};

const deviceWords =
  "A device, as listed by `moor interfaces`. In a list, the first one that is up and has a usable address is used.";

export const devices = oneOrMore(text(deviceWords, "pppoe0"), "add at least one device");

/** The host part of a machine behind the firewall, written out or derived from its MAC address. */
export const hostFields = {
  host: text(
    "For `ipv6`: the host part of the address of a machine behind the firewall. The prefix comes from the interface.",
    "::1:2",
  ),
  mac: text("The same, derived from the machine's MAC address.", "02:00:5e:10:00:01"),
  prefix: integer({ from: 16, to: 126 }, "The length of the prefix in bits.", 56, { default: usualPrefixLength }),
};

/** `ipv4: true`, or the devices. */
const short: Setting<OwnFamily> = {
  schema: {
    ...devices.schema,
    description: `${deviceWords} For a source that knows only one connection: \`true\`.`,
    anyOf: [...(devices.schema.anyOf as readonly unknown[]), { const: true }],
  },
  read(at, what, reading) {
    const written = isScalar(at.node) ? at.node.value : undefined;
    if (written === true) return {};
    if (written === false) return reading.fault(at, falseFamily(what));
    const read = devices.read(at, what, reading);
    return read && { devices: read };
  },
};

const falseFamily = (what: string) => ({
  code: "wrong-type",
  message: `${what} is false`,
  todo: "leave it out if the name has no such record",
});

/** `ipv4: true`, `ipv4: pppoe0` and `ipv4: [pppoe0, igb1]` are short for `ipv4: { interface: … }`. */
export function familySettings(family: Family, source: Setting<Sources>): Setting<OwnFamily> {
  const fields = {
    interface: devices,
    source,
    record: text("The id of the record, if several have this name and type (v1 only).", "a1b2c3"),
    vhid: vhid("Use the virtual address (CARP) of this VHID instead of the interface's own."),
    ...hostFields,
  };
  const full = mapping(fields, {
    title: "Address",
    transform({ interface: devices, record, host, mac, prefix, ...rest }, place) {
      const part = hostPart({ host, mac, prefix }, family, place);
      if (!part) return undefined;
      return {
        ...rest,
        ...part,
        ...(devices && { devices }),
        ...(record && { recordId: record }),
      };
    },
  });
  return orShort(full, short, (own) => own);
}

type Written = { readonly [K in keyof typeof hostFields]: SettingType<(typeof hostFields)[K]> | undefined };

/** Empty without a host part; undefined after a fault. */
export function hostPart(
  { host, mac, prefix }: Written,
  family: Family,
  { fault }: SettingPlace,
): Pick<OwnFamily, "host"> | undefined {
  const bad = (key: string, message: string, todo: string) => fault({ code: "bad-host", message, todo }, key);
  const [key, written] = host === undefined ? (["mac", mac] as const) : (["host", host] as const);
  if (written === undefined) {
    if (prefix === undefined) return {};
    return fault(missing("prefix is set without a host part", "add `host: ::1` or `mac: …`"), "prefix");
  }
  if (family === "ipv4") return bad(key, "host and mac work only for IPv6", "leave it out");
  if (host !== undefined && mac !== undefined) return bad("mac", "both host and mac are set", "keep one of the two");
  const length = prefix ?? usualPrefixLength;
  if (key === "mac" && length > usualPrefixLength)
    return bad(
      "prefix",
      `prefix is not a whole number from 16 to ${usualPrefixLength}`,
      "with `mac`, the last 64 bits come from the MAC address",
    );
  const part = key === "mac" ? hostPartOfMac(written, length) : parseHostPart(written, length);
  if (part) return { host: prefix === undefined ? part : { ...part, lengthIsGiven: true } };
  if (key === "mac")
    return bad(
      key,
      `"${written}" is not a MAC address`,
      "write six pairs of hexadecimal digits, such as 02:00:5e:10:00:01",
    );
  const message = `"${written}" is not a host part for a prefix of ${length} bits`;
  return bad(key, message, "write the end of the address, such as ::1:2");
}
