import { ownersSeen, typesSeen } from "../../core/may.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Fault, Result } from "../../core/result.ts";
import { createTurns, type Turns } from "../../process/turns.ts";
import type { Zone, ZoneKey } from "../model.ts";
import type { DecideAct, Page, SetPageQuery, SetPlace } from "../store/port.ts";
import { checkWrite, soaStays, zoneFaults } from "./edit/check-write.ts";
import { newRecordIds } from "./edit/new-id.ts";
import { editedSet, placed, type SetEdit, setAt } from "./edit/set.ts";
import { type Place, readPlace } from "./edit/values.ts";
import type { RecordServiceOptions } from "./options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "./sight.ts";
import { type Asked, noChange, type Written, writtenBy, writtenIn } from "./write.ts";
import { pageOfSets } from "./zones/page-of-sets.ts";
import { largeZone } from "./zones/read-zone.ts";

export type SetTarget = { readonly zone: ZoneKey; readonly name: string; readonly type: string };

/** The set after the operation, undefined if it was deleted. */
export type SetDone = {
  readonly kind: "done";
  readonly zone: Zone;
  readonly set: RRset | undefined;
  readonly made: boolean;
};

/** Operations on single record sets. */
export function setOperations({ store, now }: RecordServiceOptions, sight: Sight, turns: Pick<Turns, "next">) {
  // A list of a large zone takes memory, so an account gets one at a time. A client may request many pages simultaneously, so
  // any number may wait.
  const largeLists = createTurns({ mostWaiting: Number.POSITIVE_INFINITY });
  return {
    set: async (actor: Actor, target: SetTarget): Promise<SetDone | NotDone> => {
      const zone = await sight.openZone(actor, target.zone);
      if (zone === undefined) return missing("zone");
      const place = readPlace(target.name, target.type, zone.name);
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      if (!place.ok || !sight.allows(actor, { kind: "read-set", zone: zone.name, ...place.value })) {
        return missing("record");
      }
      const [set] = await store.sets(zone, place.value);
      return set ? { kind: "done", zone, set, made: false } : missing("record");
    },

    /** `keep` filters the sets that the actor may see. */
    setPage: async (
      actor: Actor,
      key: ZoneKey,
      query: SetPageQuery,
      keep: ((set: RRset) => boolean) | undefined,
    ): Promise<{ readonly kind: "done"; readonly zone: Zone; readonly page: Page<RRset> } | NotDone> => {
      const zone = await sight.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      const seesAll = actor.scope.sets === undefined;
      const pause = () => turns.next(actor.account);
      const isSmall = query.owners !== undefined || zone.recordCount <= largeZone;
      if (keep === undefined && seesAll && isSmall)
        return { kind: "done", zone, page: await store.setPage(zone, query) };
      const seenOwners = ownersSeen(actor.scope);
      const owners = seenOwners && (query.owners?.filter((owner) => seenOwners.includes(owner)) ?? seenOwners);
      const seenTypes = typesSeen(actor.scope);
      const types = seenTypes && (query.types?.filter((type) => seenTypes.includes(type)) ?? seenTypes);
      const only = { ...query, ...(owners && { owners }), ...(types && { types }) };
      const place = ({ owner, type }: SetPlace) =>
        seesAll || sight.allows(actor, { kind: "read-set", zone: zone.name, owner, type });
      const release = isSmall ? () => {} : await largeLists.hold(actor.account, new AbortController().signal);
      try {
        return { kind: "done", zone, page: await pageOfSets(store, zone, only, { place, set: keep }, pause) };
      } finally {
        release();
      }
    },

    editSet: async (actor: Actor, target: SetTarget, edit: SetEdit, asked: Asked = {}): Promise<Written<SetDone>> => {
      const stamp = { now: now(), newId: newRecordIds() };
      const decide: DecideAct<SetDone | NotDone> = (view) => {
        const { zone, sets } = view;
        const place = readPlace(target.name, target.type, zone.name);
        const obstacle = obstacleTo(sight, actor, zone, place, edit);
        if (obstacle) return noChange(obstacle);
        if (!place.ok) return noChange(missing("record"));
        const set = setAt(sets, place.value);
        const made = set === undefined;
        if (made && !mayCreate.has(edit.kind)) return noChange(missing("record"));
        const edited = editedSet(edit, { zone, place: place.value, set, stamp });
        if (!edited.ok) return noChange(refused(edited.faults));
        if (edited.value === undefined && place.value.type === "SOA") return noChange(refused([soaStays]));
        const wanted = placed(sets, place.value, edited.value);
        const faults = passesLock.has(edit.kind) ? [] : checkWrite(view, wanted);
        if (faults.length > 0) return noChange(refused(faults));
        const command = edit.kind === "put" && made ? commands.create : commands[edit.kind];
        return { wanted, ...(command && { command }), result: { kind: "done", zone, set: edited.value, made } };
      };
      const owners = ({ name }: Zone) => {
        const place = readPlace(target.name, target.type, name);
        return place.ok ? [place.value.owner] : [];
      };
      const request = { ...writtenBy(actor, stamp.now), at: target.zone, owners, ...asked };
      return writtenIn<SetDone>(await store.act(request, decide));
    },
  };
}

type EditKind = SetEdit["kind"];

/** The names of the actions; changing labels is not an action. */
const commands: Readonly<Record<EditKind, string | undefined>> = {
  create: "create_rrset",
  put: "set_rrset_records",
  replace: "set_rrset_records",
  add: "add_rrset_records",
  remove: "remove_rrset_records",
  comment: "update_rrset_records",
  ttl: "change_rrset_ttl",
  lock: "change_rrset_protection",
  label: undefined,
  delete: "delete_rrset",
};

/** The other edits require an existing set. */
const mayCreate: ReadonlySet<EditKind> = new Set(["create", "put", "add"]);
/** Labels and protection can be changed on a protected set. */
const passesLock: ReadonlySet<EditKind> = new Set(["lock", "label"]);

/** The original shows no sets of a secondary zone; users of the console see what was transferred. */
const readFaults = (actor: Actor, zone: Zone): readonly Fault[] => (actor.token === undefined ? [] : zoneFaults(zone));

function obstacleTo(
  sight: Sight,
  actor: Actor,
  zone: Zone,
  place: Result<Place>,
  { kind }: SetEdit,
): NotDone | undefined {
  const refusal = place.ok ? sight.refusal(actor, { kind: "write-set", zone: zone.name, ...place.value }) : undefined;
  const faults = zoneFaults(zone);
  if (place.ok && refusal === undefined) return faults.length > 0 ? refused(faults) : undefined;
  // An actor who may write a set may see it. For the others, the answer depends on what they may see.
  if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  if (faults.length > 0) return refused(faults);
  if (!place.ok) return mayCreate.has(kind) ? refused(place.faults) : missing("record");
  const seen = sight.allows(actor, { kind: "read-set", zone: zone.name, ...place.value });
  return !seen && !mayCreate.has(kind) ? missing("record") : refusal && denied(refusal);
}
