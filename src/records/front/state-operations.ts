import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import type { HeldContent, PublishedZone, Zone, ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, missing, type NotDone, type PermittedView, placeOf } from "../queries/permitted-view.ts";
import { readZone } from "../queries/read-zone.ts";
import type { SetPlace } from "../store/port.ts";
import { drifted, type Theirs } from "./plan-set.ts";
import { contentOf, isProviders, type SetState, stateOf, ttlsOf } from "./set-state.ts";
import { allRows, keyOf } from "./theirs.ts";

export type SetStateView = SetPlace & {
  readonly state: SetState;
  readonly since: Instant | undefined;
  readonly because: string | undefined;
  readonly ours: HeldContent | null;
  /** Undefined if nothing is known that differs. */
  readonly theirs: Theirs | undefined;
};

export type StateQuery = { readonly states?: readonly SetState[] | undefined; readonly owner?: string | undefined };

/** What a caller sees of the state of sets at their provider. */
export function stateOperations({ store }: RecordServiceOptions, sight: PermittedView) {
  /** The state of each set that the actor may see. */
  const statesIn = async (actor: Actor, zone: Zone, note: PublishedZone): Promise<readonly SetStateView[]> => {
    const rows = await allRows(store, zone.number);
    const sets = await readZone(store, zone, nextTurn);
    const here = new Map(sets.map((set) => [keyOf(set), set]));
    const places = new Map<string, SetPlace>([...here, ...rows]);
    const ttls = ttlsOf(zone, note.ttl);
    return [...places].flatMap(([key, { owner, type }]) => {
      if (isProviders({ owner, type })) return [];
      if (!sight.allows(actor, { kind: "read-set", ...placeOf({ zone, owner, type }) })) return [];
      const [row, ours] = [rows.get(key), contentOf(here.get(key), ttls)];
      const state = stateOf(ours, row, ttls);
      if (ours === null && state === "published") return [];
      const because = state === "drifted" ? drifted : state === "refused" ? row?.refused?.words : undefined;
      return [{ owner, type, state, since: row?.at, because, ours, theirs: row?.theirs }];
    });
  };
  const open = async (actor: Actor, key: ZoneKey) => {
    const zone = await sight.openZone(actor, key);
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
      for (const { state } of await statesIn(actor, zone, note)) counts[state] += 1;
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
      const all = found.note ? await statesIn(actor, found.zone, found.note) : [];
      const wanted = all.filter(
        (set) => (states?.includes(set.state) ?? true) && (owner === undefined || set.owner === owner),
      );
      return { kind: "done", sets: wanted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
    },
  };
}

export type PublicationView = NonNullable<
  Extract<Awaited<ReturnType<ReturnType<typeof stateOperations>["publicationOf"]>>, { kind: "done" }>["publication"]
>;
