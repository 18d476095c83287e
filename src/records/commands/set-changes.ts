import type { Instant } from "../../core/instant.ts";
import { type RRset, type SetKey, setKey } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { Zone, ZoneKey } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import {
  type Actor,
  denied,
  missing,
  type NotDone,
  type Permissions,
  permissionsAt,
  refused,
} from "../queries/permitted-view.ts";
import type { ActionRule, DecideAction, WriteView } from "../store/port.ts";
import { checkWrite, soaStays, zoneFaults } from "./edit/check-write.ts";
import { withDraft } from "./edit/set.ts";
import { readSetKey } from "./edit/values.ts";
import type { Done, IdempotencyOption, SetChange, Written } from "./requests.ts";
import { authorOf, noChange, toWritten } from "./write.ts";

type Wanted = { readonly changes: readonly SetChange[]; readonly expectedSerial?: number | undefined };

/**
 * Changes many sets of one zone in one transaction. Only the result is checked, so a CNAME can replace an A record and
 * vice versa.
 */
export function changesOperations({ store, now }: RecordServiceOptions) {
  return {
    changeSets: async (
      actor: Actor,
      key: ZoneKey,
      wanted: Wanted,
      idempotency: IdempotencyOption = {},
    ): Promise<Written> => {
      const by = { actor, now: now(), parts: wanted.changes.length, ...idempotency };
      return toWritten<Done>(await store.run({ kind: "change-sets", ...by, zone: key, ...wanted }, changeSetsRule));
    },
  };
}

export type ChangeSets = IdempotencyOption &
  Wanted & {
    readonly kind: "change-sets";
    readonly actor: Actor;
    readonly zone: ZoneKey;
    readonly now: Instant;
    readonly parts: number;
  };

export function changeSetsRule(command: ChangeSets): ActionRule<Done | NotDone> {
  const { actor, zone: key, changes, expectedSerial, now, idempotencyKey } = command;
  const permittedView = permissionsAt(() => now);
  const newIds = changes.map(newRecordIds);
  const owners = (zone: Zone) =>
    changes.flatMap(({ name, type }) => {
      const place = readSetKey(name, type, zone.name);
      return place.ok ? [place.value.owner] : [];
    });
  const decide: DecideAction<Done | NotDone> = (view) => {
    if (!permittedView.allows(actor, { kind: "read-zone", zone: view.zone.name })) return noChange(missing("zone"));
    const expected = expectedSerial ?? view.zone.serial;
    if (expected !== view.zone.serial) return noChange(refused([serialMoved(view.zone, expected)]));
    const after = applied(view, changes, { now, newIds }, (owner, type) =>
      permittedView.refusal(actor, { kind: "write-set", zone: view.zone.name, owner, type }),
    );
    if ("kind" in after) return noChange(after);
    return { wanted: after, actionName: "change_rrsets", result: { kind: "done" } };
  };
  const request = { ...authorOf(actor, now), at: key, owners, ...(idempotencyKey && { idempotencyKey }) };
  return { kind: "action", request, decide };
}

type Refuses = (owner: string, type: RRset["type"]) => ReturnType<Permissions["refusal"]>;

/** Reports all faults of all changes; missing permissions come first. */
function applied(
  view: WriteView,
  changes: readonly SetChange[],
  { now, newIds }: { readonly now: Instant; readonly newIds: readonly ((i: number) => string)[] },
  refuses: Refuses,
): readonly RRset[] | NotDone {
  const faults: Fault[] = [...zoneFaults(view.zone)];
  const seen = new Set<string>();
  const setsAfter = new Map(view.sets.map((set) => [setKey(set.owner, set.type), set]));
  for (const [i, { name, type, to }] of changes.entries()) {
    const where = `changes[${i}].`;
    const place = readSetKey(name, type, view.zone.name, where);
    if (!place.ok) {
      faults.push(...place.faults);
      continue;
    }
    const refusal = refuses(place.value.owner, place.value.type);
    if (refusal) return denied(refusal);
    const key = setKey(place.value.owner, place.value.type);
    if (seen.has(key)) faults.push(namedTwice(place.value, where));
    seen.add(key);
    if (to === "gone" && place.value.type === "SOA") faults.push({ ...soaStays, where: `${where}type` });
    const set = setsAfter.get(key);
    const stamp = { now, newId: newIds[i] ?? newRecordIds() };
    const after = to === "gone" ? undefined : withDraft({ zone: view.zone, place: place.value, set, stamp }, to, where);
    if (after !== undefined && !after.ok) faults.push(...after.faults);
    else {
      setsAfter.delete(key);
      if (after) setsAfter.set(key, after.value);
    }
  }
  const sets = [...setsAfter.values()];
  const all = faults.length > 0 ? faults : checkWrite(view, sets);
  return all.length > 0 ? refused(all) : sets;
}

const serialMoved = (zone: Zone, expected: number): Fault => ({
  code: "serial-moved",
  where: "expected_serial",
  message: `the zone has changed: its serial is ${zone.serial}, not ${expected}`,
  todo: "read the zone again before you retry",
});

const namedTwice = ({ owner, type }: SetKey, where: string): Fault => ({
  code: "named-twice",
  where: `${where}name`,
  message: `the set ${owner}/${type} is in the list twice`,
  todo: "list each set only once",
});
