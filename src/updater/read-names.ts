import { type Family, families, recordTypeOf } from "../core/address.ts";
import { absoluteName, parseOwner, parseZoneName } from "../core/name.ts";
import { nearest } from "../core/nearest.ts";
import type { FamilyConfig, NameConfig } from "./config.ts";
import { missing } from "./read-endpoint.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

type Known = { readonly sources: readonly string[]; readonly targets: readonly string[] };

const nameKeys = ["name", "zone", "source", "target", "ttl", "ipv4", "ipv6"] as const;
type NameFields = Fields<(typeof nameKeys)[number]>;

export function readNames(yaml: YamlReader, at: Spot, known: Known): readonly NameConfig[] {
  const taken = new Set<string>();
  return yaml.items(at, "names").flatMap((item) => {
    const fields = yaml.fields(item, "an entry of names", nameKeys);
    const name = fields && readName(yaml, fields, known);
    if (!name) return [];
    for (const family of name.families.keys()) refuseTwice(yaml, fields, name, family, taken);
    return [name];
  });
}

function readName(yaml: YamlReader, fields: NameFields, known: Known): NameConfig | undefined {
  const zone = readZone(yaml, fields);
  const name = readOwner(yaml, fields, zone);
  const source = readReference(yaml, fields, "source", known.sources);
  const target = readReference(yaml, fields, "target", known.targets);
  const ttlSpot = fields.get("ttl");
  const ttl = ttlSpot && yaml.integer(ttlSpot, "ttl", { min: 0, max: 2_147_483_647 });
  const wanted = new Map<Family, FamilyConfig>();
  for (const family of families) {
    const spot = fields.get(family);
    const config = spot && readFamily(yaml, spot, family);
    if (config) wanted.set(family, config);
  }
  if (!fields.get("ipv4") && !fields.get("ipv6")) {
    yaml.fault(
      fields.self,
      missing("this name has neither ipv4 nor ipv6", "add `ipv4: DEVICE`, `ipv6: DEVICE`, or both"),
    );
  }
  if (zone === undefined || name === undefined || source === undefined || target === undefined) return undefined;
  return { name, zone, source, target, families: wanted, ...(ttl === undefined ? {} : { ttl }) };
}

function readZone(yaml: YamlReader, fields: NameFields): string | undefined {
  const at = fields.get("zone");
  if (!at) return yaml.fault(fields.self, missing("this name has no zone", "add `zone: example.org`"));
  const text = yaml.text(at, "zone");
  const zone = text === undefined ? undefined : parseZoneName(text, "zone");
  if (!zone || zone.ok) return zone?.value;
  for (const { code, message, todo } of zone.faults) yaml.fault(at, { code, message, ...(todo ? { todo } : {}) });
  return undefined;
}

function readOwner(yaml: YamlReader, fields: NameFields, zone: string | undefined): string | undefined {
  const at = fields.get("name");
  if (!at)
    return yaml.fault(fields.self, missing("this entry has no name", "add `name: home`, or `name: '@'` for the zone"));
  const text = yaml.text(at, "name");
  if (text === undefined || zone === undefined) return undefined;
  const owner = parseOwner(text, zone, "name");
  if (!owner.ok) {
    for (const { code, message, todo } of owner.faults) yaml.fault(at, { code, message, ...(todo ? { todo } : {}) });
    return undefined;
  }
  if (!owner.value.endsWith(`.${zone}`)) return owner.value;
  return yaml.fault(at, {
    code: "zone-repeated",
    message: `"${text}" repeats the zone: it would mean ${absoluteName(owner.value, zone)}`,
    todo: `write ${owner.value.slice(0, -zone.length - 1)}`,
  });
}

function readReference(
  yaml: YamlReader,
  fields: NameFields,
  kind: "source" | "target",
  known: readonly string[],
): string | undefined {
  const at = fields.get(kind);
  const there = known.length === 0 ? `there are no ${kind}s yet` : `the ${kind}s are ${known.join(", ")}`;
  if (!at) {
    if (known.length === 1) return known[0];
    return yaml.fault(fields.self, missing(`this name has no ${kind}`, `add \`${kind}: …\`; ${there}`));
  }
  const text = yaml.text(at, kind);
  if (text === undefined || known.includes(text)) return text;
  const meant = nearest(text, known);
  return yaml.fault(at, {
    code: `unknown-${kind}`,
    message: `there is no ${kind} "${text}"`,
    todo: `${there}${meant ? `; did you mean "${meant}"?` : ""}`,
  });
}

/** `ipv4: pppoe0` is short for `ipv4: { interface: pppoe0 }`. */
function readFamily(yaml: YamlReader, at: Spot, family: Family): FamilyConfig | undefined {
  if (!yaml.isMapping(at)) {
    const device = yaml.text(at, family);
    return device === undefined ? undefined : { device };
  }
  const fields = yaml.fields(at, family, ["interface", "record"]);
  const interfaceSpot = fields?.get("interface");
  if (!fields || !interfaceSpot) {
    return yaml.fault(
      at,
      missing(`${family} has no interface`, "add `interface: DEVICE`; `moor interfaces` lists them"),
    );
  }
  const device = yaml.text(interfaceSpot, `interface of ${family}`);
  const recordSpot = fields.get("record");
  const recordId = recordSpot && yaml.text(recordSpot, `record of ${family}`);
  return device === undefined ? undefined : { device, ...(recordId === undefined ? {} : { recordId }) };
}

function refuseTwice(yaml: YamlReader, fields: NameFields, name: NameConfig, family: Family, taken: Set<string>): void {
  const key = `${name.target} ${absoluteName(name.name, name.zone)} ${recordTypeOf(family)}`;
  if (taken.has(key)) {
    yaml.fault(fields.get(family) ?? fields.self, {
      code: "duplicate-name",
      message: `${absoluteName(name.name, name.zone)} ${recordTypeOf(family)} is kept by another entry already`,
      todo: "keep one of the two",
    });
  }
  taken.add(key);
}
