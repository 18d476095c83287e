import type { Instant } from "../../core/instant.ts";
import { parseOwner } from "../../core/names/name.ts";
import { parseRdata } from "../../core/rdata/rdata.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { RecordInZone, Zone } from "../model.ts";
import {
  type Actor,
  denied,
  missing,
  type NotDone,
  type Permissions,
  permissionsAt,
  placeOf,
  refused,
} from "../queries/permitted-view.ts";
import type { WriteRule } from "../store/port.ts";
import { soaStays } from "./edit/check-write.ts";
import { deleteRecord, editRecord, holds, type RecordContent } from "./edit/record.ts";
import type { DraftInZone, RecordDraft } from "./requests.ts";
import { authorOf, noChange } from "./write.ts";

export type RecordOutcome = { readonly kind: "done"; readonly recordInZone: RecordInZone } | NotDone;

type By = { readonly actor: Actor; readonly now: Instant };
export type CreateRecord = By & {
  readonly kind: "create-record";
  readonly zone: string;
  readonly id: string;
  readonly draft: RecordDraft;
};
export type ReplaceRecord = By & { readonly kind: "replace-record"; readonly id: string; readonly next: DraftInZone };
export type DeleteRecord = By & { readonly kind: "delete-record"; readonly id: string };

export function createRecordRule(command: CreateRecord): WriteRule<RecordOutcome> {
  const { actor, zone, id, draft, now } = command;
  const permitted = recordPermissions(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...authorOf(actor, now), at: { zone }, owners: ownersOf([draft]) },
    decide: (view) => {
      const read = permitted.newContent(actor, view.zone, draft);
      return read.kind === "content" ? editRecord(view, { id, content: read.content }, now) : noChange(read);
    },
  };
}

export function replaceRecordRule(command: ReplaceRecord): WriteRule<RecordOutcome> {
  const { actor, id, next, now } = command;
  const permitted = recordPermissions(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...authorOf(actor, now), at: { record: id }, owners: ownersOf([next.draft]) },
    decide: (view) => {
      const set = view.sets.find((each) => holds(each, id));
      const read = permitted.nextContent(actor, view.zone, set, next);
      return read.kind === "content" ? editRecord(view, { id, content: read.content }, now) : noChange(read);
    },
  };
}

export function deleteRecordRule(command: DeleteRecord): WriteRule<{ kind: "done" } | NotDone> {
  const { actor, id, now } = command;
  const permitted = recordPermissions(permissionsAt(() => now));
  return {
    kind: "write",
    request: { ...authorOf(actor, now), at: { record: id }, owners: () => [] },
    decide: (view) => {
      const set = view.sets.find((each) => holds(each, id));
      const obstacle = permitted.obstacle(actor, view.zone, set);
      return obstacle ? noChange(obstacle) : deleteRecord(view, id);
    },
  };
}

/** The fault is the same whether or not the other zone exists, so that the answer reveals nothing about other zones. */
export const zoneStays: Fault = {
  code: "zone-stays",
  where: "zone_id",
  message: "the record is not in the zone given as zone_id, and records cannot be moved between zones",
  todo: "send the record's current zone_id, or delete the record and create it in the other zone",
};

type Content = { readonly kind: "content"; readonly content: RecordContent };

export type RecordPermissions = ReturnType<typeof recordPermissions>;

/** What an actor may do with a record, before the rest of the zone is checked. */
export function recordPermissions(permissions: Permissions) {
  const writeRefusal = (actor: Actor, zone: Zone, { owner, type }: { owner: string; type: RecordType }) => {
    const refusal = permissions.refusal(actor, { kind: "write-set", zone: zone.name, owner, type });
    return refusal && denied(refusal);
  };

  /** Why a record of this set cannot be changed: not visible to the actor, the SOA, or not writable. */
  const obstacle = (actor: Actor, zone: Zone, set: RRset | undefined): NotDone | undefined => {
    if (set === undefined || !permissions.allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) })) {
      return missing("record");
    }
    return set.type === "SOA" ? refused([soaStays]) : writeRefusal(actor, zone, set);
  };

  const newContent = (actor: Actor, zone: Zone, draft: RecordDraft): Content | NotDone => {
    if (!permissions.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
    const read = readDraft(draft, zone);
    return read.kind === "content" ? (writeRefusal(actor, zone, read.content) ?? read) : read;
  };

  return {
    obstacle,
    newContent,
    /** For a record that is in `set` now. */
    nextContent: (actor: Actor, zone: Zone, set: RRset | undefined, next: DraftInZone): Content | NotDone =>
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
