import { typesMadeBySigning } from "../../../core/dnssec/generated-types.ts";
import { apex } from "../../../core/names/name.ts";
import { publishedFaults } from "../../../core/provider-rules.ts";
import { type RecordType, typeName } from "../../../core/rdata/table.ts";
import { diffSets } from "../../../core/records/changes.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import type { Publication, Zone } from "../../model.ts";

/**
 * What the provider of a published zone would refuse, as far as that is known: the writer learns it now, and not
 * later.
 */
export function publishedEditFaults(zone: Zone, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  const { published } = zone.settings;
  if (published === undefined) return [];
  const changes = diffSets(before, wanted);
  const providersOwn = changes.filter(({ owner, type }) => owner === apex && (type === "NS" || type === "SOA"));
  const generated = changes.filter(({ type, after }) => after !== null && typesMadeBySigning.includes(type));
  return [
    ...generated.map(({ owner, type }) => generatedTypeFault(setKey(owner, type), published, type)),
    ...providersOwn.map(({ type }) => providersOwnFault(zone, published, type)),
    ...publishedFaults(
      zone.settings.ttl,
      published,
      changes.flatMap(({ after }) => after ?? []),
    ),
  ];
}

const providersOwnFault = ({ name }: Zone, { service }: Publication, type: string): Fault => ({
  code: "provider-rule",
  where: setKey(apex, type as RRset["type"]),
  message: `the ${type} records of ${name} itself are those of ${service}, where the zone is published`,
  todo: `change them at ${service}`,
});

const generatedTypeFault = (where: string, { service }: Publication, type: RecordType): Fault => ({
  code: "provider-rule",
  where,
  message: `${typeName(type)} records are made by signing, and are not published at ${service}`,
  todo: "remove them from the request",
});
