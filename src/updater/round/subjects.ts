import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import type { OrderedPolicy } from "../../core/addresses/choose-in-order.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { calledOf } from "../sources/sources.ts";
import type { ReplaceOrder } from "../targets/target.ts";

type NameConfig = UpdaterConfig["names"][number];
type NameRules = NameConfig["rules"];
type FamilyConfig = NameConfig["families"] extends ReadonlyMap<Family, infer Config> ? Config : never;
type FamilySource = NonNullable<FamilyConfig["others"]>[number];

/** One name and one family: the unit of decisions, independent of all others. */
export type Subject = {
  /** The key of its stored address; never shared with another service or name. */
  readonly key: string;
  /** `home.example.org A` */
  readonly title: string;
  /** The key of the same name's other family, if moor updates that too. */
  readonly otherFamilyKey?: string;
  readonly family: Family;
  readonly source: string;
  /** What messages call the source. */
  readonly called: string;
  /** Other sources, if it has several: in order of preference after the first. */
  readonly others?: readonly Origin[] | undefined;
  /** How many of its sources must report the same address; without it, the first that has one is used. */
  readonly agree?: number | undefined;
  readonly target: string;
  readonly policy: OrderedPolicy;
  /** The same for subjects that must get the same address, so that the choice for a thousand names is made once. */
  readonly policyKey: string;
  readonly rules: NameRules;
  readonly order: Omit<ReplaceOrder, "value">;
  /** Remove its record when moor is stopped. */
  readonly removeOnStop?: true;
  /** Nothing is written. */
  readonly paused?: true;
};

/** A source, and its devices in order of preference. */
export type Origin = { readonly source: string; readonly called: string; readonly devices: readonly string[] };

export const originsOf = ({ source, called, policy, others = [] }: Subject): readonly Origin[] => [
  { source, called, devices: policy.devices },
  ...others,
];

export const isFrom = (subject: Subject, source: string): boolean =>
  originsOf(subject).some((origin) => origin.source === source);

export function subjectsOf(config: UpdaterConfig): readonly Subject[] {
  return config.names.flatMap((name) =>
    [...name.families].map(([family, wanted]) => subjectOf(config, name, family, wanted)),
  );
}

function subjectOf(config: UpdaterConfig, entry: NameConfig, family: Family, wanted: FamilyConfig): Subject {
  const { name, zone, target, ttl, create, removeOnStop, paused, rules } = entry;
  const { devices, source, vhid, host, recordId, agree } = wanted;
  const originOf = (other: FamilySource): Origin => ({ ...other, called: calledOf(config.sources.get(other.source)) });
  const others = wanted.others?.map(originOf);
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
    title: `${absoluteName(name, zone)} ${type}`,
    family,
    source,
    called: calledOf(config.sources.get(source)),
    others,
    agree,
    target,
    policy,
    policyKey: JSON.stringify([source, others, agree, policy, host?.bytes.join("."), rules.compare === "record"]),
    rules,
    ...(removeOnStop && { removeOnStop }),
    ...(paused && { paused }),
    order: {
      zone,
      name,
      family,
      ttl,
      recordId,
      ...(create ? { create } : {}),
    },
  };
}

/**
 * `pppoe0 of home`, or `pppoe0 of home, else igb1 of home`; by agreement,
 * `internet of web and internet of dns, if 2 agree`.
 */
export function describeOrigins(subject: Subject, nameOf = (source: string) => source): string {
  const all = originsOf(subject);
  const one = ({ source, devices }: Origin) => `${devices.join(", else ")} of ${nameOf(source)}`;
  if (subject.agree === undefined) return all.map(one).join(", else ");
  return `${all.map(one).join(" and ")}, if ${subject.agree} agree`;
}
