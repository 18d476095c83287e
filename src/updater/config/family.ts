import type { Family } from "../../core/addresses/address.ts";
import { type HostPart, hostPartOfMac, parseHostPart, usualPrefixLength } from "../../core/addresses/host-part.ts";
import { type KeyFault, mapping, needed, type ValueOf } from "../../process/settings/mapping.ts";
import {
  integer,
  missing,
  oneOrMore,
  orShort,
  type Place,
  type Setting,
  text,
} from "../../process/settings/setting.ts";
import { vhid } from "./rules.ts";

export type FamilyConfig = {
  readonly source: string;
  /** In order of preference. */
  readonly devices: readonly string[];
  readonly recordId?: string;
  readonly vhid?: string;
  readonly host?: HostPart;
};

/** Its source may be the name's. */
type OwnFamily = Omit<FamilyConfig, "source"> & { readonly source?: string };

const devices = oneOrMore(
  text(
    "A device, as `moor interfaces` lists it, or several in order of preference: the first that is up and has a fit address is taken.",
    {
      examples: ["pppoe0"],
    },
  ),
  "name one device or more",
);

/** `ipv4: pppoe0` and `ipv4: [pppoe0, igb1]` are short for `ipv4: { interface: … }`. */
export function familySettings(family: Family, source: Setting<string>): Setting<OwnFamily> {
  const fields = {
    interface: needed(devices, "add `interface: DEVICE`; `moor interfaces` lists them"),
    source,
    record: text("The id of the record, when there are several of this name and type (v1 only).", {
      examples: ["a1b2c3"],
    }),
    vhid: vhid("The virtual address (CARP) of this VHID instead of the interface's own."),
    ...hostFields,
  };
  const full = mapping(fields, {
    title: "Address",
    keys: (given) => hostKeys(given, family),
    turn({ interface: devices, record: recordId, vhid, source, ...host }, place) {
      const part = hostPart(host, place);
      if (part === undefined) return undefined;
      return {
        ...{ devices, ...part },
        ...(recordId === undefined ? {} : { recordId }),
        ...(source === undefined ? {} : { source }),
        ...(vhid === undefined ? {} : { vhid: String(vhid) }),
      };
    },
  });
  return orShort(full, devices, (devices): OwnFamily => ({ devices }));
}

/** The end of the address of a machine behind the firewall, written out or made from its MAC. */
const hostFields = {
  host: text(
    "The end of the address of a machine behind the firewall; the interface gives the prefix. Only for `ipv6`.",
    {
      examples: ["::1:2"],
    },
  ),
  mac: text("The same, made from the machine's MAC.", { examples: ["02:00:5e:10:00:01"] }),
  prefix: integer(16, 126, "How many bits the prefix has, for `host` and `mac`.", {
    default: usualPrefixLength,
    examples: [56],
  }),
};

function hostKeys(given: readonly string[], family: Family): readonly KeyFault[] {
  const [first, second] = ["host", "mac"].filter((key) => given.includes(key));
  const skip = Object.keys(hostFields);
  if (first === undefined) {
    if (!given.includes("prefix")) return [];
    return [{ ...missing("prefix without a host part", "add `host: ::1` or `mac: …`"), at: "prefix", skip }];
  }
  const bad = (at: string, message: string, todo: string) => [{ code: "bad-host", message, todo, at, skip }];
  if (family === "ipv4") return bad(first, "only IPv6 addresses are made of a prefix and a host part", "leave it out");
  return second === undefined ? [] : bad(second, "there are host and mac", "keep one of the two");
}

/** Nothing in it where there is none; undefined after a fault. */
function hostPart(
  { host, mac, prefix }: ValueOf<typeof hostFields>,
  { fault }: Place,
): { readonly host?: HostPart } | undefined {
  const written = host ?? mac;
  if (written === undefined) return {};
  const length = prefix ?? usualPrefixLength;
  const bad = (key: string, message: string, todo: string) => fault({ code: "bad-host", message, todo }, key);
  if (mac !== undefined && length > usualPrefixLength)
    return bad(
      "prefix",
      `prefix is not a whole number from 16 to ${usualPrefixLength}`,
      "a MAC makes the last 64 bits",
    );
  const part = host === undefined ? hostPartOfMac(written, length) : parseHostPart(written, length);
  if (part) return { host: prefix === undefined ? part : { ...part, lengthIsGiven: true } };
  return host === undefined
    ? bad("mac", `"${written}" is no MAC`, "write six pairs of hexadecimal digits, as 02:00:5e:10:00:01")
    : bad(
        "host",
        `"${written}" is no host part behind a prefix of ${length} bits`,
        "write the end of the address, as ::1:2",
      );
}
