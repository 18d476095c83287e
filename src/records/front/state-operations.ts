import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { keyOf, type RRset, type SetKey } from "../../core/records/rrset.ts";
import type { PublishedContent, PublishedSet, PublishedZone, Zone, ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import {
  type Actor,
  missing,
  type NotDone,
  type Permissions,
  type PermittedView,
  placeOf,
} from "../queries/permitted-view.ts";
import type { RecordStore } from "../store/port.ts";
import { contentOf, drifted, isProviders, type ShownState, shownState, type Theirs, ttlsOf } from "./set-state.ts";

export type SetStateView = SetKey & {
  readonly state: ShownState;
  readonly since: Instant | undefined;
  readonly because: string | undefined;
  readonly ours: PublishedContent | null;
  /** Undefined if nothing is known that differs. */
  readonly theirs: Theirs | undefined;
};

export type StateQuery = { readonly states?: readonly ShownState[] | undefined; readonly owner?: string | undefined };

/** Sets whose states are computed in one step of the event loop. */
const perStep = 500;

export type StateStore = Pick<RecordStore, "sets" | "setsAfter" | "publishedSetsAt" | "publishedSetsAfter">;

/** The states of sets, as far as the actor may see them. */
export function stateReads(store: StateStore, permittedView: Permissions) {
  const statesAmong = (actor: Actor, { zone, note }: Noted, sets: readonly RRset[], rows: readonly PublishedSet[]) => {
    const rowsByKey = new Map(rows.map((row) => [keyOf(row), row]));
    const here = new Map(sets.map((set) => [keyOf(set), set]));
    const ttls = ttlsOf(zone, note.ttl);
    return [...new Map<string, SetKey>([...here, ...rowsByKey])].flatMap(([key, { owner, type }]): SetStateView[] => {
      if (isProviders({ owner, type })) return [];
      if (!permittedView.allows(actor, { kind: "read-set", ...placeOf({ zone, owner, type }) })) return [];
      const [row, ours] = [rowsByKey.get(key), contentOf(here.get(key), ttls)];
      const state = shownState(ours, row, zone, note);
      if (ours === null && state === "published") return [];
      const because = state === "drifted" ? drifted : state === "refused" ? row?.refused?.words : undefined;
      return [{ owner, type, state, since: row?.at, because, ours, theirs: row?.theirs }];
    });
  };
  /** In parts: those of the sets here, then those of sets that only the provider has. */
  async function* statesIn(actor: Actor, found: Noted): AsyncGenerator<readonly SetStateView[]> {
    const { zone } = found;
    const here = new Set<string>();
    for (let last: SetKey | undefined, isEnd = false; !isEnd; await nextTurn()) {
      const sets = await store.setsAfter(zone, last, perStep);
      const keys = new Set(sets.map(keyOf));
      const owners = [...new Set(sets.map(({ owner }) => owner))];
      const rows = await store.publishedSetsAt(zone.number, owners);
      // Other sets of the last owner may be in the next part.
      yield statesAmong(
        actor,
        found,
        sets,
        rows.filter((row) => keys.has(keyOf(row))),
      );
      for (const key of keys) here.add(key);
      last = sets.at(-1);
      isEnd = sets.length < perStep;
    }
    for (let last: PublishedSet | undefined, isEnd = false; !isEnd; await nextTurn()) {
      const rows = await store.publishedSetsAfter(zone.number, last, perStep);
      const onlyThere = rows.filter((row) => !here.has(keyOf(row)));
      yield statesAmong(actor, found, [], onlyThere);
      last = rows.at(-1);
      isEnd = rows.length < perStep;
    }
  }
  /** Of these names. */
  const statesAt = async (actor: Actor, found: Noted, names: readonly string[]): Promise<readonly SetStateView[]> => {
    const owners = [...new Set(names)];
    const sets = await store.sets(found.zone, { owners });
    return statesAmong(actor, found, sets, await store.publishedSetsAt(found.zone.number, owners));
  };
  return { statesIn, statesAt };
}

/** What a caller sees of the state of sets at their provider. */
export function stateOperations({ store }: RecordServiceOptions, permittedView: PermittedView) {
  const { statesIn, statesAt } = stateReads(store, permittedView);
  const open = async (actor: Actor, key: ZoneKey) => {
    const zone = await permittedView.openZone(actor, key);
    if (zone === undefined) return undefined;
    const note = zone.settings.published && (await store.publishedZone(zone.number));
    return { zone, note };
  };

  return {
    /** Undefined: the zone is not published at a provider. */
    publicationOf: async (actor: Actor, key: ZoneKey) => {
      const found = await open(actor, key);
      if (found === undefined) return missing("zone") satisfies NotDone;
      const { zone, note } = found;
      const { published } = zone.settings;
      if (published === undefined || note === undefined) return { kind: "done", publication: undefined } as const;
      const counts = { published: 0, waiting: 0, refused: 0, drifted: 0 };
      for await (const part of statesIn(actor, { zone, note })) for (const { state } of part) counts[state] += 1;
      return { kind: "done", publication: { published, note, counts } } as const;
    },

    /** The states of the sets of a published zone, in the order of their names. */
    setStates: async (
      actor: Actor,
      key: ZoneKey,
      { states, owner }: StateQuery,
    ): Promise<{ kind: "done"; sets: readonly SetStateView[] } | NotDone> => {
      const found = await open(actor, key);
      if (found === undefined) return missing("zone");
      const { zone, note } = found;
      if (note === undefined) return { kind: "done", sets: [] };
      const isWanted = ({ state }: SetStateView) => states?.includes(state) ?? true;
      if (owner !== undefined)
        return {
          kind: "done",
          sets: (await statesAt(actor, { zone, note }, [owner])).filter(isWanted).toSorted(byPlace),
        };
      const sets: SetStateView[] = [];
      for await (const part of statesIn(actor, { zone, note })) sets.push(...part.filter(isWanted));
      // Both lists are in this order already: that takes one comparison per set.
      return { kind: "done", sets: sets.toSorted(byPlace) };
    },
  };
}

type Noted = { readonly zone: Zone; readonly note: PublishedZone };

const byPlace = (a: SetKey, b: SetKey): number =>
  a.owner === b.owner ? (a.type < b.type ? -1 : 1) : a.owner < b.owner ? -1 : 1;

export type PublicationView = NonNullable<
  Extract<Awaited<ReturnType<ReturnType<typeof stateOperations>["publicationOf"]>>, { kind: "done" }>["publication"]
>;
