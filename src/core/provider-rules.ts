import { typeName } from "./rdata/table.ts";
import { type RRset, setKey } from "./records/rrset.ts";
import type { Fault } from "./result.ts";

/** What a DNS provider takes. */
export type PublicationRules = {
  readonly lowestTtl: number;
  readonly highestTtl: number;
  /** Those that can be published there, by name; undefined if all of them can. */
  readonly types?: readonly string[] | undefined;
  readonly mostValues: number;
};

/** What a provider would refuse, as far as that is known. `ttl`: of sets without their own. */
export function publishedFaults(
  ttl: number,
  { service, rules }: { readonly service: string; readonly rules: PublicationRules },
  sets: readonly RRset[],
): readonly Fault[] {
  return sets.flatMap(({ owner, type, ttl: own, records }) => {
    const where = setKey(owner, type);
    const served = own ?? ttl;
    const refusal = (message: string, todo: string): Fault => ({ code: "provider-rule", where, message, todo });
    const { lowestTtl, highestTtl, types, mostValues } = rules;
    return [
      ...(types && !types.includes(typeName(type))
        ? [
            refusal(
              `${typeName(type)} records cannot be published at ${service}`,
              "remove the set, or publish the zone elsewhere",
            ),
          ]
        : []),
      ...(served < lowestTtl || served > highestTtl
        ? [
            refusal(
              `${service} takes TTLs from ${lowestTtl} to ${highestTtl} seconds, not ${served}`,
              "give the set another TTL",
            ),
          ]
        : []),
      ...(records.length > mostValues
        ? [refusal(`${service} stores at most ${mostValues} values in a set`, "remove some values")]
        : []),
    ];
  });
}
