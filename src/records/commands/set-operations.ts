import { ownersSeen, typesSeen } from "../../core/may.ts";
import type { RRset, SetKey } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { isLarge, type Zone, type ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { pageOfSets } from "../queries/page-of-sets.ts";
import { type Actor, missing, type NotDone, type PermittedView, refused } from "../queries/permitted-view.ts";
import type { Page, SetPageQuery } from "../store/port.ts";
import { zoneFaults } from "./edit/check-write.ts";
import { readSetKey } from "./edit/values.ts";
import { editSetRule } from "./edit-set.ts";
import type { IdempotencyOption, SetDone, SetEdit, SetTarget } from "./requests.ts";
import { toWritten } from "./write.ts";

/** Operations on single record sets. */
export function setOperations(
  { store, now }: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: Pick<FairSchedule, "next">,
) {
  // A list of a large zone takes memory, so an account gets one at a time. A client may request many pages
  // simultaneously, so any number may wait.
  const largeLists = new FairSchedule({ mostWaiting: Number.POSITIVE_INFINITY });
  return {
    set: async (actor: Actor, target: SetTarget): Promise<SetDone | NotDone> => {
      const zone = await permittedView.openZone(actor, target.zone);
      if (zone === undefined) return missing("zone");
      const place = readSetKey(target.name, target.type, zone.name);
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      if (!place.ok || !permittedView.allows(actor, { kind: "read-set", zone: zone.name, ...place.value })) {
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
      const zone = await permittedView.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      const seesAll = actor.scope.sets === undefined;
      const pause = () => schedule.next(actor.account);
      const isSmall = query.owners !== undefined || !isLarge(zone);
      if (keep === undefined && seesAll && isSmall)
        return { kind: "done", zone, page: await store.setPage(zone, query) };
      const seenOwners = ownersSeen(actor.scope);
      const owners = seenOwners && (query.owners?.filter((owner) => seenOwners.includes(owner)) ?? seenOwners);
      const seenTypes = typesSeen(actor.scope);
      const types = seenTypes && (query.types?.filter((type) => seenTypes.includes(type)) ?? seenTypes);
      const only = { ...query, ...(owners && { owners }), ...(types && { types }) };
      const place = ({ owner, type }: SetKey) =>
        seesAll || permittedView.allows(actor, { kind: "read-set", zone: zone.name, owner, type });
      const release = isSmall ? () => {} : await largeLists.hold(actor.account, new AbortController().signal);
      try {
        return { kind: "done", zone, page: await pageOfSets(store, zone, only, { place, set: keep }, pause) };
      } finally {
        release();
      }
    },

    editSet: async (actor: Actor, target: SetTarget, edit: SetEdit, idempotency?: IdempotencyOption) => {
      const command = { kind: "edit-set", actor, target, edit, now: now(), ...idempotency } as const;
      return toWritten<SetDone>(await store.run(command, editSetRule));
    },
  };
}

/** The original shows no sets of a secondary zone; users of the console see what was transferred. */
const readFaults = (actor: Actor, zone: Zone): readonly Fault[] => (actor.token === undefined ? [] : zoneFaults(zone));
