import { type Family, families, recordTypeOf } from "../../core/addresses/address.ts";
import { absoluteName, parseOwner, parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { highestTtl } from "../../core/records/rrset.ts";
import { fail, type Result } from "../../core/result.ts";
import { mapping, needed, usually, type ValueOf } from "../../lib/settings/mapping.ts";
import {
  flag,
  integer,
  listOf,
  missing,
  refined,
  type Setting,
  type SettingPlace,
  text,
} from "../../lib/settings/setting.ts";
import { type FamilyConfig, familySettings, type OwnFamily, type Sources } from "./family.ts";
import type { ConfigKinds, ConfigReferences } from "./kinds.ts";
import { checkDevices, noReference, reference, sourcesSetting, withSources } from "./references.ts";
import { checkWhen, type NameRules, type RuleValues, ruleFields } from "./rules.ts";

export type NameConfig = {
  /** Relative to the zone; `@` for the zone itself. */
  readonly name: string;
  readonly zone: string;
  readonly target: string;
  readonly ttl?: number;
  /** Create the record if it does not exist; only some APIs can. */
  readonly create: boolean;
  /** Remove the record when `moor update` is stopped; only some APIs can. */
  readonly removeOnStop?: true;
  /** Its record is left alone. */
  readonly paused?: true;
  readonly rules: NameRules;
  readonly families: ReadonlyMap<Family, FamilyConfig>;
};

/** What the entries of `names:` and `hosts:` have in common. */
export function entrySettings(references: ConfigReferences) {
  const [sources, targets] = [[...references.sources.keys()], [...references.targets.keys()]];
  const onlySource = sources.length === 1 ? sources[0] : undefined;
  const usualSource: Sources | undefined = onlySource === undefined ? undefined : { names: [onlySource] };
  const onlyTarget = targets.length === 1 ? targets[0] : undefined;
  const refuseTwice = createDuplicateCheck();
  return {
    fields: entryFields(sources, targets, references.kinds),
    ownSource: sourcesSetting(sources, "The source for this family, if it differs from the name's."),
    /** `needsSource`: not all families of the entry have their own source. */
    check(
      right: Partial<EntryValues>,
      entryFamilies: readonly Family[],
      needsSource: boolean,
      place: SettingPlace,
    ): void {
      checkWhen(right, place);
      if (needsSource && !place.has("source") && !onlySource) place.fault(noReference("source", sources));
      if (!place.has("target") && !onlyTarget) place.fault(noReference("target", targets));
      checkAbilities(right, entryFamilies, references, right.target ?? onlyTarget ?? "", place);
    },
    checkFamily(
      family: Family,
      config: OwnFamily | undefined,
      { source }: Partial<EntryValues>,
      place: SettingPlace,
      key?: string,
    ): void {
      checkDevices(family, config, references, source ?? usualSource, place, key);
    },
    /** Call it after all checks. */
    nameOf(
      written: string,
      { zone, source = usualSource, target = onlyTarget, ttl, create, removeOnStop, paused, ...rules }: EntryValues,
      wanted: readonly (readonly [Family, OwnFamily | undefined])[],
      place: SettingPlace,
    ): NameConfig | undefined {
      const owner = ownerOf(written, zone);
      if (!owner.ok || target === undefined) return undefined;
      const families = new Map<Family, FamilyConfig>();
      for (const [family, config] of wanted) {
        if (!config) continue;
        families.set(family, withSources(family, config, references, source));
        refuseTwice(`${absoluteName(owner.value, zone)} ${recordTypeOf(family)}`, target, family, place);
      }
      const own = {
        name: owner.value,
        zone,
        target,
        create,
        families,
        rules,
        ...(removeOnStop && { removeOnStop }),
        ...(paused && { paused }),
      };
      return ttl === undefined ? own : { ...own, ttl };
    },
  };
}

export type EntrySettings = ReturnType<typeof entrySettings>;

type EntryValues = ValueOf<ReturnType<typeof entryFields>> & RuleValues;

const entryFields = (sources: readonly string[], targets: readonly string[], kinds: ConfigKinds) => ({
  zone: needed(zoneName, undefined, "this name has no zone"),
  source: sourcesSetting(
    sources,
    "The source of the addresses. Not needed if there is only one. In a list, the first one that has a usable address is used.",
  ),
  target: reference("target", targets, "The target to write to. Not needed if there is only one."),
  ttl: integer({ from: 0, to: highestTtl }, "Seconds. Without it, the record keeps its TTL.", 60),
  create: usually(
    flag(
      "Create the record if it does not exist. Not with `dyndns2`, `http`, `namecheap` and the services with an update URL.",
    ),
    false,
  ),
  removeOnStop: usually(
    flag(
      `Remove the record when \`moor update\` is stopped, if it still holds the address that moor wrote. Needs \`create: true\`. Only with ${removing(kinds)}.`,
    ),
    false,
  ),
  paused: usually(flag("While `true`, leave the record as it is."), false),
});

/** The APIs that can remove records. */
const removing = ({ targets }: ConfigKinds): string =>
  Object.entries(targets.facts)
    .flatMap(([api, { can }]) => (can.remove ? [`\`${api}\``] : []))
    .join(", ");

/** Reports a record that an earlier entry has too. */
function createDuplicateCheck() {
  const taken = new Set<string>();
  return (record: string, target: string, family: Family, { fault }: SettingPlace): void => {
    const message = `${record} is already in another entry`;
    if (taken.has(`${target} ${record}`))
      fault({ code: "duplicate-name", message, todo: "keep one of the two" }, family);
    taken.add(`${target} ${record}`);
  };
}

/** `names:`. The rules for all names are not merged in yet. */
export function namesSettings(entry: EntrySettings) {
  const fields = {
    name: needed(
      text("The name relative to the zone; `@` for the zone itself.", "home"),
      "add `name: home`, or `name: '@'` for the zone",
      "this entry has no name",
    ),
    ...entry.fields,
    ipv4: familySettings("ipv4", entry.ownSource),
    ipv6: familySettings("ipv6", entry.ownSource),
    ...ruleFields,
  };
  const name = mapping(fields, {
    title: "Name",
    of: "",
    schema: { anyOf: [{ required: ["ipv4"] }, { required: ["ipv6"] }], examples: [exampleName] },
    check(right, place) {
      const ownFamilies = families.filter(place.has);
      if (ownFamilies.length === 0) {
        const todo = "add `ipv4: DEVICE`, `ipv6: DEVICE`, or both";
        place.fault(missing("this name has neither ipv4 nor ipv6", todo));
      }
      // A name needs no source if each family has one.
      const needsSource = ownFamilies.length === 0 || ownFamilies.some((family) => right[family]?.source === undefined);
      entry.check(right, ownFamilies, needsSource, place);
      for (const family of ownFamilies) entry.checkFamily(family, right[family], right, place);
      if (right.name !== undefined && right.zone !== undefined) checkOwner(right.name, right.zone, place, "name");
    },
    transform({ name, ipv4, ipv6, ...rest }, place) {
      const wanted = [
        ["ipv4", ipv4],
        ["ipv6", ipv6],
      ] as const;
      return entry.nameOf(name, rest, wanted, place);
    },
  });
  return listOf(
    name,
    "The names to keep up to date. The records must exist, unless `create: true` is set.",
    "an entry in `names:`",
  );
}

/** Reports what is wrong with a name of that zone. */
export function checkOwner(written: string, zone: string, { fault }: SettingPlace, key?: string): void {
  const owner = ownerOf(written, zone);
  if (!owner.ok) for (const { where: _, ...detail } of owner.faults) fault(detail, key);
}

const exampleName = { name: "home", zone: "example.org", ipv4: "pppoe0" };

const zoneName: Setting<string> = refined(text("The zone of the name.", "example.org"), (written, { fault }) => {
  const zone = parseTyped(parseZoneName, written, "zone");
  if (zone.ok) return zone.value;
  for (const { where: _, ...detail } of zone.faults) fault(detail);
  return undefined;
});

function ownerOf(written: string, zone: string): Result<string> {
  const owner = parseTyped((ascii, where) => parseOwner(ascii, zone, where), written);
  if (!owner.ok || !owner.value.endsWith(`.${zone}`)) return owner;
  return fail({
    code: "zone-repeated",
    where: "name",
    message: `"${written}" repeats the zone: it would mean ${absoluteName(owner.value, zone)}`,
    todo: `write ${owner.value.slice(0, -zone.length - 1)}`,
  });
}

function checkAbilities(
  { create, ttl, removeOnStop }: Pick<Partial<NameConfig>, "create" | "ttl"> & { readonly removeOnStop?: boolean },
  entryFamilies: readonly Family[],
  references: ConfigReferences,
  target: string,
  { fault }: SettingPlace,
): void {
  const api = references.targets.get(target);
  const can = references.kinds.targets.facts[api ?? ""]?.can;
  if (create && can?.create === false) {
    const message = `\`moor update\` does not create records with the API ${api}, so this one must exist`;
    fault({ code: "cannot-create", message, todo: "create it at the service, and remove `create:`" }, "create");
  }
  if (removeOnStop && can && !can.remove) {
    const message = `moor cannot remove records with the API ${api}`;
    fault({ code: "cannot-remove", message, todo: "remove `removeOnStop:`" }, "removeOnStop");
  } else if (removeOnStop && create === false) {
    const message = "removeOnStop without create: the next start could not create the record again";
    fault({ code: "remove-without-create", message, todo: "add `create: true`" }, "removeOnStop");
  }
  if (ttl !== undefined && can?.ttl === false) {
    const message = `the API ${api} cannot set a TTL`;
    fault({ code: "cannot-set-ttl", message, todo: "remove `ttl:`; the service chooses it" }, "ttl");
  }
  if (ttl !== undefined && can?.lowestTtl !== undefined && ttl < can.lowestTtl) {
    const message = `a TTL of ${ttl} is too short: the record service takes at least ${can.lowestTtl} seconds`;
    fault({ code: "ttl-too-short", message, todo: `write ${can.lowestTtl} or more, or leave it out` }, "ttl");
  }
  if (entryFamilies.includes("ipv6") && can?.ipv6 === false) {
    const message = `the API ${api} cannot write IPv6 addresses`;
    fault({ code: "cannot-write-ipv6", message, todo: "remove `ipv6:`, or write it to another target" }, "ipv6");
  }
}
