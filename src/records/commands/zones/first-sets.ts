import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import { type Fault, failAll, ok, type Result } from "../../../core/result.ts";
import { mapInSteps, type Steps } from "../../../core/steps.ts";
import type { ZoneFile } from "../../../core/zone-file/parse.ts";
import type { Zone } from "../../model.ts";
import { newRecordId, newRecordIds } from "../../new-id.ts";
import type { Publisher } from "../../options.ts";
import { withValues } from "../edit/set.ts";
import { readPlace, readValues } from "../edit/values.ts";
import type { SetDraft } from "../requests.ts";

type At = { readonly serial: number; readonly now: Instant };

/** Adds the SOA set of a new zone, and the NS set if it is served from here, unless they are given. */
export function firstSets(
  given: readonly RRset[],
  publisher: Publisher,
  isServed: boolean,
  { serial, now }: At,
): readonly RRset[] {
  const has = (type: string) => given.some((set) => set.owner === apex && set.type === type);
  const soa = has("SOA") ? [] : [firstSoa(publisher, serial, now)];
  if (!isServed || has("NS")) return soa;
  return [...soa, nameserverSet(publisher, now)];
}

export function nameserverSet({ nameservers }: Publisher, now: Instant): RRset {
  const values = nameservers.map((server) => ({ value: `${server}.`, rdata: `${server}.`, comment: "" }));
  return withValues({ owner: apex, type: "NS" }, undefined, values, { now, newId: newRecordIds() });
}

/** With the timers of existing zones of the v1 API. */
function firstSoa({ nameservers, hostmaster }: Publisher, serial: number, now: Instant): RRset {
  const [nameserver] = nameservers;
  const rdata = `${nameserver}. ${hostmaster ?? `hostmaster.${nameserver}`}. ${serial} 86400 10800 3600000 3600`;
  const record = { id: newRecordId(), name: apex, value: rdata, rdata, comment: "", created: now, modified: now };
  return { owner: apex, type: "SOA", ttl: null, records: [record] };
}

type Drafts = readonly (SetDraft & { readonly name: string; readonly type: string })[];

/** Reports all faults of all sets. */
export function setsFromDrafts(drafts: Drafts, zoneName: string, { serial, now }: At): Result<readonly RRset[]> {
  const faults: Fault[] = [];
  const sets = drafts.flatMap(({ name, type, records, ttl = null, labels, locked }, i) => {
    const where = `rrsets[${i}].`;
    const place = readPlace(name, type, zoneName, where);
    const values = place.ok ? readValues(place.value.type, records, { name: zoneName, serial }, where) : place;
    if (!place.ok || !values.ok) {
      faults.push(...(values.ok ? [] : values.faults));
      return [];
    }
    const set = withValues(place.value, undefined, values.value, { now, newId: newRecordIds() });
    return [{ ...set, ttl, ...(labels && { labels }), ...(locked && { locked }) }];
  });
  return faults.length > 0 ? failAll(faults) : ok(sets);
}

/** The contents of a file as sets. Records that the zone already has keep their spelling. */
export function* importedSets(
  { zone, sets }: { readonly zone: Pick<Zone, "serial">; readonly sets: readonly RRset[] },
  file: ZoneFile,
  { now, newIds }: { readonly now: Instant; readonly newIds: readonly ((i: number) => string)[] },
): Steps<readonly RRset[]> {
  const before = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  return yield* mapInSteps(file.sets, ({ owner, type, ttl, records }, i): RRset => {
    const old = before.get(setKey(owner, type));
    const spelled = new Map(old?.records.map((record) => [record.rdata, record.value]));
    const values = records.map(({ value, rdata, comment }) => {
      const soa = type === "SOA" ? withSerial(rdata, zone.serial) : undefined;
      return { value: soa ?? spelled.get(rdata) ?? value, rdata: soa ?? rdata, comment };
    });
    const set = withValues({ owner, type }, old, values, { now, newId: newIds[i] ?? newRecordIds() });
    return { owner, type, ttl, records: set.records };
  });
}
