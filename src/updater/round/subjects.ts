import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import type { OrderedPolicy } from "../../core/addresses/choose-in-order.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { FamilyConfig } from "../config/family.ts";
import type { NameConfig } from "../config/names.ts";
import type { NameRules } from "../config/rules.ts";
import { calledOf } from "../sources/sources.ts";
import type { ReplaceOrder } from "../targets/target.ts";

/** One name and one family: the unit of decisions, independent of all others. */
export type Subject = {
  /** The key of its stored address; never shared with another service or name. */
  readonly key: string;
  /** `home.example.org A` */
  readonly title: string;
  readonly family: Family;
  readonly source: string;
  /** What messages call the source. */
  readonly called: string;
  readonly target: string;
  readonly policy: OrderedPolicy;
  /** The same for subjects that must get the same address, so that the choice for a thousand names is made once. */
  readonly policyKey: string;
  readonly rules: NameRules;
  readonly order: Omit<ReplaceOrder, "value">;
};

export function subjectsOf(config: UpdaterConfig): readonly Subject[] {
  return config.names.flatMap((name) =>
    [...name.families].map(([family, wanted]) => subjectOf(config, name, family, wanted)),
  );
}

function subjectOf(config: UpdaterConfig, entry: NameConfig, family: Family, wanted: FamilyConfig): Subject {
  const { name, zone, target, ttl, create, rules } = entry;
  const { devices, source, vhid, host, recordId } = wanted;
  const type = recordTypeOf(family);
  const policy: OrderedPolicy = {
    devices,
    family,
    ...(rules.public === undefined ? {} : { public: rules.public }),
    ...(vhid === undefined ? {} : { vhid }),
    ...(host === undefined ? {} : { host }),
  };
  return {
    key: `${config.targets.get(target)?.url.href} ${zone} ${name} ${type}`,
    title: `${absoluteName(name, zone)} ${type}`,
    family,
    source,
    called: calledOf(config.sources.get(source)),
    target,
    policy,
    policyKey: JSON.stringify([source, policy, host?.bytes.join("."), rules.compare === "record"]),
    rules,
    order: {
      zone,
      name,
      family,
      ...(ttl === undefined ? {} : { ttl }),
      ...(recordId === undefined ? {} : { recordId }),
      ...(create ? { create } : {}),
    },
  };
}

/** `pppoe0`, or `pppoe0, else igb1`. */
export const devicesOf = ({ policy: { devices } }: Subject): string => devices.join(", else ");
