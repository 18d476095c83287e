import type { Family } from "../../core/addresses/address.ts";
import { hostPartOfMac, parseHostPart, usualPrefixLength } from "../../core/addresses/host-part.ts";
import type { FamilyConfig } from "./config.ts";
import { missing } from "./read-endpoint.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

const familyKeys = ["interface", "source", "record", "vhid", "host", "mac", "prefix"] as const;
type FamilyFields = Fields<(typeof familyKeys)[number]>;

export type ReadFamily = Omit<FamilyConfig, "source"> & {
  /** Where it is another than the name's. */
  readonly source?: { readonly name: string; readonly at: Spot };
};

/** `ipv4: pppoe0` and `ipv4: [pppoe0, igb1]` are short for `ipv4: { interface: … }`. */
export function readFamily(yaml: YamlReader, at: Spot, family: Family): ReadFamily | undefined {
  if (!yaml.isMapping(at)) {
    const devices = readDevices(yaml, at, family);
    return devices && { devices };
  }
  const fields = yaml.fields(at, family, familyKeys);
  const interfaceSpot = fields?.get("interface");
  if (!fields || !interfaceSpot) {
    const todo = "add `interface: DEVICE`; `moor interfaces` lists them";
    return yaml.fault(at, missing(`${family} has no interface`, todo));
  }
  const devices = readDevices(yaml, interfaceSpot, `interface of ${family}`);
  const text = (key: "record" | "source") => {
    const spot = fields.get(key);
    return spot && yaml.text(spot, `${key} of ${family}`);
  };
  const recordId = text("record");
  const sourceName = text("source");
  const sourceSpot = fields.get("source");
  const vhidSpot = fields.get("vhid");
  const vhid = vhidSpot && yaml.integer(vhidSpot, `vhid of ${family}`, { min: 1, max: 255 });
  const host = readHost(yaml, fields, family);
  return (
    devices && {
      devices,
      ...(recordId === undefined ? {} : { recordId }),
      ...(sourceName === undefined || !sourceSpot ? {} : { source: { name: sourceName, at: sourceSpot } }),
      ...(vhid === undefined ? {} : { vhid: String(vhid) }),
      ...(host === undefined ? {} : { host }),
    }
  );
}

function readDevices(yaml: YamlReader, at: Spot, what: string): readonly string[] | undefined {
  if (!yaml.isList(at)) {
    const device = yaml.text(at, what);
    return device === undefined ? undefined : [device];
  }
  const devices = yaml.items(at, what).map((spot) => yaml.text(spot, what));
  const known = devices.filter((device) => device !== undefined);
  if (known.length < devices.length) return undefined;
  if (known.length === 0) return yaml.fault(at, missing(`${what} is an empty list`, "name one device or more"));
  return known;
}

/** The end of the address of a machine behind the firewall, written out or made from its MAC. */
function readHost(yaml: YamlReader, fields: FamilyFields, family: Family): FamilyConfig["host"] {
  const [hostSpot, macSpot, prefixSpot] = [fields.get("host"), fields.get("mac"), fields.get("prefix")];
  const at = hostSpot ?? macSpot;
  if (!at) {
    if (prefixSpot) yaml.fault(prefixSpot, missing("prefix without a host part", "add `host: ::1` or `mac: …`"));
    return undefined;
  }
  const bad = (spot: Spot, message: string, todo: string) => yaml.fault(spot, { code: "bad-host", message, todo });
  if (family === "ipv4") return bad(at, "only IPv6 addresses are made of a prefix and a host part", "leave it out");
  if (hostSpot && macSpot) return bad(macSpot, "there are host and mac", "keep one of the two");
  const bounds = { min: 16, max: macSpot ? usualPrefixLength : 126 };
  const length = prefixSpot ? yaml.integer(prefixSpot, "prefix", bounds) : usualPrefixLength;
  const text = yaml.text(at, hostSpot ? "host" : "mac");
  if (text === undefined || length === undefined) return undefined;
  const host = hostSpot ? parseHostPart(text, length) : hostPartOfMac(text, length);
  if (host) return prefixSpot ? { ...host, lengthIsGiven: true } : host;
  return hostSpot
    ? bad(at, `"${text}" is no host part behind a prefix of ${length} bits`, "write the end of the address, as ::1:2")
    : bad(at, `"${text}" is no MAC`, "write six pairs of hexadecimal digits, as 02:00:5e:10:00:01");
}
