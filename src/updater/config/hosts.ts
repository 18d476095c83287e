import { parseIpv6 } from "../../core/addresses/address.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import { listOf, missing, named, refined, type SettingPlace, text } from "../../lib/settings/setting.ts";
import { devices, hostFields, hostPart } from "./family.ts";
import { checkOwner, type EntrySettings, type NameConfig } from "./names.ts";
import { ruleFields } from "./rules.ts";

/** `::1:2` or `02:00:5e:10:00:01`. Parsed only when the prefix length is known. */
const machine = refined(
  text("The host part of the machine's address, or its MAC address.", "::1:2"),
  (written, place): { readonly written: string; readonly place: SettingPlace } => ({ written, place }),
);

/** `hosts:`. Each entry is many names: the machines of a site, which all move when the prefix changes. */
export function hostsSettings(entry: EntrySettings) {
  const fields = {
    names: needed(
      named(
        machine,
        (name) => `host ${name}`,
        "The machines: each name with its host part, such as `::1:2`, or its MAC address.",
      ),
      "add `names: { nas: ::1:2 }`",
      "this entry has no names",
    ),
    ...entry.fields,
    interface: devices,
    prefix: hostFields.prefix,
    ...ruleFields,
  };
  const site = mapping(fields, {
    title: "Hosts",
    of: "",
    schema: { examples: [exampleSite] },
    check(right, place) {
      const { names, zone } = right;
      if (names?.size === 0) place.fault(missing("names is empty", "add a machine, such as `nas: ::1:2`"), "names");
      entry.check(right, ["ipv6"], true, place);
      const own = right.interface ? { devices: right.interface } : {};
      entry.checkFamily("ipv6", own, right, place, "interface");
      for (const [name, { place: at }] of names ?? []) if (zone !== undefined) checkOwner(name, zone, at);
    },
    transform({ names, interface: own, prefix, ...rest }): readonly NameConfig[] | undefined {
      const all = [...names].map(([name, { written, place }]) => {
        const part = hostPart({ ...hostOrMac(written), prefix }, "ipv6", place);
        const family = part && { ...part, ...(own && { devices: own }) };
        return family && entry.nameOf(name, rest, [["ipv6", family]], place);
      });
      return all.every((name) => name !== undefined) ? all : undefined;
    },
  });
  return listOf(
    site,
    "Many machines of one site: each gets an AAAA record with the prefix of the interface and its own host part.",
    "an entry in `hosts:`",
  );
}

const exampleSite = { zone: "example.org", interface: "igb0", names: { nas: "::1:2", tv: "02:00:5e:10:00:01" } };

const hostOrMac = (written: string) =>
  parseIpv6(written) || written.includes("::") ? { host: written, mac: undefined } : { host: undefined, mac: written };
