import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import type { OrderedPolicy } from "../../core/addresses/choose-in-order.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { kindLabelOf } from "../sources/sources.ts";
import type { RecordSpec } from "../targets/target.ts";

type NameConfig = UpdaterConfig["names"][number];
type NameRules = NameConfig["rules"];
type FamilyConfig = NameConfig["families"] extends ReadonlyMap<Family, infer Config> ? Config : never;
type FamilySource = NonNullable<FamilyConfig["others"]>[number];

/** One name and one family: the unit of decisions, independent of all others. */
export type ManagedRecord = {
  /** The key of its stored address; never shared with another service or name. */
  readonly key: string;
  /** `home.example.org A` */
  readonly displayName: string;
  /** The key of the same name's other family, if moor updates that too. */
  readonly otherFamilyKey?: string;
  readonly family: Family;
  readonly source: string;
  /** What messages call the source. */
  readonly kindLabel: string;
  /** Other sources, if it has several: in order of preference after the first. */
  readonly furtherSources?: readonly RecordSource[] | undefined;
  /** How many of its sources must report the same address; without it, the first that has one is used. */
  readonly agree?: number | undefined;
  readonly target: string;
  readonly policy: OrderedPolicy;
  /** The same for records that must get the same address, so that the choice for a thousand names is made once. */
  readonly choiceKey: string;
  readonly rules: NameRules;
  readonly spec: RecordSpec;
  /** Remove its record when moor is stopped. */
  readonly removeOnStop?: true;
  /** Nothing is written. */
  readonly paused?: true;
};

/** A source, and its devices in order of preference. */
export type RecordSource = { readonly source: string; readonly kindLabel: string; readonly devices: readonly string[] };

export const sourcesOf = ({
  source,
  kindLabel,
  policy,
  furtherSources = [],
}: ManagedRecord): readonly RecordSource[] => [{ source, kindLabel, devices: policy.devices }, ...furtherSources];

export const isFrom = (record: ManagedRecord, source: string): boolean =>
  sourcesOf(record).some((from) => from.source === source);

export function managedRecordsOf(config: UpdaterConfig): readonly ManagedRecord[] {
  return config.names.flatMap((name) =>
    [...name.families].map(([family, wanted]) => managedRecordOf(config, name, family, wanted)),
  );
}

function managedRecordOf(
  config: UpdaterConfig,
  entry: NameConfig,
  family: Family,
  wanted: FamilyConfig,
): ManagedRecord {
  const { name, zone, target, ttl, create, removeOnStop, paused, rules } = entry;
  const { devices, source, vhid, host, recordId, agree } = wanted;
  const sourceOf = (other: FamilySource): RecordSource => ({
    ...other,
    kindLabel: kindLabelOf(config.sources.get(other.source)),
  });
  const furtherSources = wanted.others?.map(sourceOf);
  const type = recordTypeOf(family);
  const policy: OrderedPolicy = {
    devices,
    family,
    public: rules.public,
    vhid,
    host,
  };
  const keyOf = (each: Family) => `${config.targets.get(target)?.url.href} ${zone} ${name} ${recordTypeOf(each)}`;
  const other = [...entry.families.keys()].find((each) => each !== family);
  return {
    key: keyOf(family),
    ...(other && { otherFamilyKey: keyOf(other) }),
    displayName: `${absoluteName(name, zone)} ${type}`,
    family,
    source,
    kindLabel: kindLabelOf(config.sources.get(source)),
    furtherSources,
    agree,
    target,
    policy,
    choiceKey: JSON.stringify([
      source,
      furtherSources,
      agree,
      policy,
      host?.bytes.join("."),
      rules.compare === "record",
    ]),
    rules,
    ...(removeOnStop && { removeOnStop }),
    ...(paused && { paused }),
    spec: {
      zone,
      name,
      family,
      ttl,
      recordId,
      ...(create && { create }),
    },
  };
}

/**
 * `pppoe0 of home`, or `pppoe0 of home, else igb1 of home`; by agreement,
 * `internet of web and internet of dns, if 2 agree`.
 */
export function describeSources(record: ManagedRecord, nameOf = (source: string) => source): string {
  const all = sourcesOf(record);
  const one = ({ source, devices }: RecordSource) => `${devices.join(", else ")} of ${nameOf(source)}`;
  if (record.agree === undefined) return all.map(one).join(", else ");
  return `${all.map(one).join(" and ")}, if ${record.agree} agree`;
}
