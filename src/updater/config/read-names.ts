import { type Family, families, recordTypeOf } from "../../core/addresses/address.ts";
import { absoluteName, parseOwner, parseZoneName } from "../../core/names/name.ts";
import { nearest } from "../../core/names/nearest.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { highestTtl } from "../../core/records/rrset.ts";
import type { FamilyConfig, NameConfig, NameRules } from "./config.ts";
import { missing } from "./read-endpoint.ts";
import { readFamily } from "./read-family.ts";
import { readRules, ruleKeys } from "./read-rules.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

type Known = {
  readonly sources: readonly string[];
  /** With the API that each speaks; undefined where that is not known for its faults. */
  readonly targets: ReadonlyMap<string, string | undefined>;
  readonly rules: NameRules;
};

/** The APIs through which a record can be made. */
const creatingApis = ["rrsets"];

const nameKeys = ["name", "zone", "source", "target", "ttl", "create", "ipv4", "ipv6", ...ruleKeys] as const;
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
  const target = readReference(yaml, fields, "target", [...known.targets.keys()]);
  const ttlSpot = fields.get("ttl");
  const ttl = ttlSpot && yaml.integer(ttlSpot, "ttl", { min: 0, max: highestTtl });
  const create = readCreate(yaml, fields, target === undefined ? undefined : known.targets.get(target));
  const wanted = readFamilies(yaml, fields, known);
  const rules = readRules(yaml, fields, known.rules);
  if (zone === undefined || name === undefined || target === undefined || wanted === undefined) return undefined;
  return { name, zone, target, create, rules, families: wanted, ...(ttl === undefined ? {} : { ttl }) };
}

/** Undefined when a source is missing: its fault is said once, and no second one for each name and family. */
function readFamilies(
  yaml: YamlReader,
  fields: NameFields,
  known: Known,
): ReadonlyMap<Family, FamilyConfig> | undefined {
  const given = families.filter((family) => fields.get(family));
  if (given.length === 0) {
    const todo = "add `ipv4: DEVICE`, `ipv6: DEVICE`, or both";
    yaml.fault(fields.self, missing("this name has neither ipv4 nor ipv6", todo));
  }
  const read = given.map((family) => {
    const spot = fields.get(family);
    return [family, spot && readFamily(yaml, spot, family)] as const;
  });
  // A source of the family's own spares the name its source.
  const needsSource = read.length === 0 || read.some(([, config]) => config?.source === undefined);
  const source = needsSource ? readReference(yaml, fields, "source", known.sources) : "";
  for (const [, config] of read) {
    if (config?.source) checkReference(yaml, config.source.at, config.source.name, "source", known.sources);
  }
  if (source === undefined) return undefined;
  const wanted = new Map<Family, FamilyConfig>();
  for (const [family, config] of read) {
    if (!config) continue;
    const { source: own, ...rest } = config;
    wanted.set(family, { ...rest, source: own?.name ?? source });
  }
  return wanted;
}

function readCreate(yaml: YamlReader, fields: NameFields, api: string | undefined): boolean {
  const at = fields.get("create");
  const create = at ? (yaml.flag(at, "create") ?? false) : false;
  if (at && create && api !== undefined && !creatingApis.includes(api)) {
    const message = `a record cannot be made through the api ${api}, so it must exist`;
    yaml.fault(at, { code: "cannot-create", message, todo: "make it in the console, and leave `create:` out" });
  }
  return create;
}

function readZone(yaml: YamlReader, fields: NameFields): string | undefined {
  const at = fields.get("zone");
  if (!at) return yaml.fault(fields.self, missing("this name has no zone", "add `zone: example.org`"));
  const text = yaml.text(at, "zone");
  const zone = text === undefined ? undefined : parseTyped(parseZoneName, text, "zone");
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
  const owner = parseTyped((ascii, where) => parseOwner(ascii, zone, where), text);
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
  return text === undefined ? undefined : checkReference(yaml, at, text, kind, known);
}

function checkReference(
  yaml: YamlReader,
  at: Spot,
  text: string,
  kind: "source" | "target",
  known: readonly string[],
): string | undefined {
  if (known.includes(text)) return text;
  const there = known.length === 0 ? `there are no ${kind}s yet` : `the ${kind}s are ${known.join(", ")}`;
  const meant = nearest(text, known);
  return yaml.fault(at, {
    code: `unknown-${kind}`,
    message: `there is no ${kind} "${text}"`,
    todo: `${there}${meant ? `; did you mean "${meant}"?` : ""}`,
  });
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
