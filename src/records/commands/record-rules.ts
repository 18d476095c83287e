import { parseOwner } from "../../core/names/name.ts";
import { parseRdata } from "../../core/rdata/rdata.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { Zone } from "../model.ts";
import { type Actor, denied, missing, type NotDone, type Permissions, placeOf, refused } from "../queries/sight.ts";
import { soaStays } from "./edit/check-write.ts";
import type { RecordContent } from "./edit/record.ts";
import type { PlacedDraft, RecordDraft } from "./requests.ts";

/** The fault is the same whether or not the other zone exists, so that the answer reveals nothing about other zones. */
export const zoneStays: Fault = {
  code: "zone-stays",
  where: "zone_id",
  message: "the record is not in the zone given as zone_id, and records cannot be moved between zones",
  todo: "send the record's current zone_id, or delete the record and create it in the other zone",
};

type Content = { readonly kind: "content"; readonly content: RecordContent };

export type RecordRules = ReturnType<typeof recordRules>;

/** What an actor may do with a record, before the rest of the zone is checked. */
export function recordRules(sight: Permissions) {
  const writeRefusal = (actor: Actor, zone: Zone, { owner, type }: { owner: string; type: RecordType }) => {
    const refusal = sight.refusal(actor, { kind: "write-set", zone: zone.name, owner, type });
    return refusal && denied(refusal);
  };

  /** Why a record of this set cannot be changed: not visible to the actor, the SOA, or not writable. */
  const obstacle = (actor: Actor, zone: Zone, set: RRset | undefined): NotDone | undefined => {
    if (set === undefined || !sight.allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) })) {
      return missing("record");
    }
    return set.type === "SOA" ? refused([soaStays]) : writeRefusal(actor, zone, set);
  };

  const newContent = (actor: Actor, zone: Zone, draft: RecordDraft): Content | NotDone => {
    if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
    const read = readDraft(draft, zone);
    return read.kind === "content" ? (writeRefusal(actor, zone, read.content) ?? read) : read;
  };

  return {
    obstacle,
    newContent,
    /** For a record that is in `set` now. */
    nextContent: (actor: Actor, zone: Zone, set: RRset | undefined, next: PlacedDraft): Content | NotDone =>
      obstacle(actor, zone, set) ??
      (next.zoneId === zone.id ? newContent(actor, zone, next.draft) : refused([zoneStays])),
  };
}

/** The owners of drafts. Invalid names are skipped: the rules refuse them and need no sets for that. */
export const ownersOf =
  (drafts: readonly RecordDraft[]) =>
  (zone: Zone): readonly string[] =>
    drafts.flatMap((draft) => {
      const owner = parseOwner(draft.name, zone.name);
      return owner.ok ? [owner.value] : [];
    });

/** Reads both name and value, so that all faults are reported. */
function readDraft(draft: RecordDraft, zone: Zone): Content | NotDone {
  const owner = parseOwner(draft.name, zone.name);
  const rdata = parseRdata(draft.type, draft.text, zone.name);
  if (!owner.ok || !rdata.ok) return refused([...(owner.ok ? [] : owner.faults), ...(rdata.ok ? [] : rdata.faults)]);
  const { type, name, value, ttl } = draft;
  return { kind: "content", content: { owner: owner.value, type, ttl, name, value, rdata: rdata.value.text } };
}
