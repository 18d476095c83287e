import type { EditableNames, NameFields } from "../../src/contract/updater-page.ts";

type Sources = EditableNames["sources"];
type Family = "ipv4" | "ipv6";

/** The sources that the name may use. */
export function sourcesOf({ source }: NameFields, sources: Sources): Sources {
  const wanted = source.split(",").map((name) => name.trim());
  return sources.filter(({ name }) => source.trim() === "" || wanted.includes(name));
}

/** A source that knows only one connection needs no interface. */
export function asksDevice(fields: NameFields, family: Family, all: Sources): boolean {
  const { isOn, devices } = fields[family];
  const sources = sourcesOf(fields, all);
  return isOn && (sources.length === 0 || sources.some(({ isOne }) => !isOne) || devices !== "");
}

/** What must be entered before anything is sent, by field. */
export function missingIn(fields: NameFields, sources: Sources): Readonly<Partial<Record<string, string>>> {
  const { name, zone, ipv4, ipv6 } = fields;
  const needsDevice = (family: Family) => asksDevice(fields, family, sources) && fields[family].devices.trim() === "";
  return {
    ...(name.trim() === "" && { name: "Enter the name, or @ for the zone itself." }),
    ...(zone.trim() === "" && { zone: "Enter the zone." }),
    ...(!ipv4.isOn && !ipv6.isOn && { ipv4: "Choose IPv4, IPv6 or both." }),
    ...(needsDevice("ipv4") && { ipv4: "Enter the interface that has the address." }),
    ...(needsDevice("ipv6") && { ipv6: "Enter the interface that has the address." }),
  };
}
