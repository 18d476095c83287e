import type { RRset } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { Action, Zone, ZoneKey } from "../model.ts";
import type { Acted, DecideAct, WriteView } from "../store/port.ts";
import { checkWrite, soaStays, zoneFaults } from "./edit/check-write.ts";
import { newRecordIds } from "./edit/new-id.ts";
import { type Fresh, placed, setAt } from "./edit/set.ts";
import { readPlace } from "./edit/values.ts";
import type { RecordServiceOptions } from "./options.ts";
import { type Asked, notActed, putIn, type SetDraft } from "./set-operations.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "./sight.ts";

/** One set of several that change together: what it shall be, or that it shall go. */
export type SetChange = {
  readonly name: string;
  readonly type: string;
  readonly to: SetDraft | "gone";
};

/** With the serial that the write has given the zone: by now it may have another. */
export type ChangesWritten =
  | { readonly kind: "done"; readonly serial: number; readonly action: Action | undefined }
  | NotDone;

type Wanted = { readonly changes: readonly SetChange[]; readonly expectedSerial: number | undefined };

/** Many sets of one zone in one transaction: checked as they shall stand in the end, so a CNAME and an A can change places. */
export function changesOperations({ store, now }: RecordServiceOptions, sight: Sight) {
  return {
    changeSets: async (actor: Actor, key: ZoneKey, wanted: Wanted, asked: Asked = {}): Promise<ChangesWritten> => {
      const at = now();
      const fresh = wanted.changes.map(() => ({ now: at, newId: newRecordIds() }));
      const owners = (zone: Zone) =>
        wanted.changes.flatMap(({ name, type }) => {
          const place = readPlace(name, type, zone.name);
          return place.ok ? [place.value.owner] : [];
        });
      const decide: DecideAct<{ kind: "done" } | NotDone> = (view) => {
        if (!sight.allows(actor, { kind: "read-zone", zone: view.zone.name })) return leave(missing("zone"));
        const { expectedSerial = view.zone.serial } = wanted;
        if (expectedSerial !== view.zone.serial) return leave(refused([serialMoved(view.zone, expectedSerial)]));
        const after = applied(view, wanted.changes, fresh, (owner, type) =>
          sight.refusal(actor, { kind: "write-set", zone: view.zone.name, owner, type }),
        );
        if ("kind" in after) return leave(after);
        return { wanted: after, command: "change_rrsets", result: { kind: "done" } };
      };
      const request = { account: actor.account, at: key, owners, actor: actor.label, now: at, ...asked };
      return changesWritten(await store.act(request, decide));
    },
  };
}

export function changesWritten(acted: Acted<{ kind: "done" } | NotDone> | "no-zone" | "key-taken"): ChangesWritten {
  if (typeof acted === "string") return notActed(acted);
  const { result, serial, action } = acted;
  return result.kind === "done" ? { kind: "done", serial, action } : result;
}

type Refuses = (owner: string, type: RRset["type"]) => ReturnType<Sight["refusal"]>;

/** Every fault of every change at once; what may not be written at all comes first. */
function applied(
  view: WriteView,
  changes: readonly SetChange[],
  fresh: readonly Fresh[],
  refuses: Refuses,
): readonly RRset[] | NotDone {
  const faults: Fault[] = [...zoneFaults(view.zone)];
  const seen = new Set<string>();
  let sets = view.sets;
  for (const [i, { name, type, to }] of changes.entries()) {
    const where = `changes[${i}].`;
    const place = readPlace(name, type, view.zone.name, where);
    if (!place.ok) {
      faults.push(...place.faults);
      continue;
    }
    const refusal = refuses(place.value.owner, place.value.type);
    if (refusal) return denied(refusal);
    const key = `${place.value.owner}/${place.value.type}`;
    if (seen.has(key)) faults.push(namedTwice(key, where));
    seen.add(key);
    if (to === "gone" && place.value.type === "SOA") faults.push({ ...soaStays, where: `${where}type` });
    const set = setAt(sets, place.value);
    const after =
      to === "gone" ? undefined : putIn({ view, place: place.value, set, fresh: freshOf(fresh, i) }, to, where);
    if (after !== undefined && !after.ok) faults.push(...after.faults);
    else sets = placed(sets, place.value, after?.value);
  }
  const all = faults.length > 0 ? faults : checkWrite(view, sets);
  return all.length > 0 ? refused(all) : sets;
}

function freshOf(fresh: readonly Fresh[], i: number): Fresh {
  const mine = fresh[i];
  if (mine === undefined) throw new Error("each change has its ids");
  return mine;
}

const leave = (result: NotDone) => ({ wanted: undefined, result });

const serialMoved = (zone: Zone, expected: number): Fault => ({
  code: "serial-moved",
  where: "expected_serial",
  message: `the zone has changed meanwhile: its serial is ${zone.serial}, not ${expected}`,
  todo: "read it again, and decide again",
});

const namedTwice = (key: string, where: string): Fault => ({
  code: "named-twice",
  where: `${where}name`,
  message: `the set ${key} is in the list twice`,
  todo: "say once what it shall be",
});
