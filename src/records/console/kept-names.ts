import type { Attention, DynamicName, Example, NameFamily } from "../../contract/overview.ts";
import type { UpdaterState } from "../../contract/updater-page.ts";
import { ownerOf } from "../../core/names/name.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { RecordStore } from "../store/port.ts";
import { valuesOf } from "./latest-writes.ts";

type KeptRecord = UpdaterState["names"][number] & {
  /** Whether the record is at this service. */
  readonly writesHere: boolean;
  /** The interfaces or the source of its address. */
  readonly from: string;
};

/** The state of an updater in the same process. */
export type KnownUpdater = Pick<UpdaterState, "sources" | "lastRound"> & {
  readonly names: readonly KeptRecord[];
  /** Commands to try with it. */
  readonly examples?: readonly Example[];
};

type Kept = {
  readonly names: readonly DynamicName[];
  readonly attention: readonly Attention[];
  /** How many names are left out. */
  readonly more: number;
};

/** The account of the updater's owner, with its other dynamic names, some of which the updater may keep. */
type Account = {
  readonly store: RecordStore;
  readonly account: number;
  readonly described: readonly DynamicName[];
};

/** The names of the updater with what it says about them, and what their records hold. */
export async function keptNames(
  { store, account, described }: Account,
  { names, sources, lastRound }: KnownUpdater,
  most: number,
): Promise<Kept> {
  const checked = lastRound === null ? 0 : Date.parse(lastRound);
  const byName = [...Map.groupBy(names, ({ name }) => splitTitle(name)[0])];
  const parts = await Promise.all(
    byName.slice(0, most).map(async ([name, records]) => {
      const zone = records.some(({ writesHere }) => writesHere) ? await store.zoneHolding(name) : undefined;
      const at = zone?.account === account ? { zone: zone.name, owner: ownerOf(name, zone.name) ?? "" } : null;
      const sets = zone && at ? await store.sets(zone, { owner: at.owner }) : [];
      const logged = described.find((other) => other.name === name);
      const here = { name, at, sets, logged, checked };
      const shown: DynamicName = {
        name,
        at,
        families: records.map((record) => familyOf(record, here)),
        updater: { from: [...new Set(records.map(({ from }) => from))].join(", "), checked: lastRound },
        device: null,
        moves: logged?.moves ?? records.flatMap(lastMove),
      };
      return { shown, attention: records.flatMap((record) => attentionTo(record, here)) };
    }),
  );
  const down = sources.filter(({ up }) => !up);
  return {
    names: parts.map(({ shown }) => shown),
    attention: [
      ...down.map(({ source, called, because = "" }) => ({ kind: "source-down" as const, source, called, because })),
      ...parts.flatMap(({ attention }) => attention),
    ],
    more: Math.max(0, byName.length - most),
  };
}

/** What the store has of a name. */
type Here = {
  readonly name: string;
  readonly at: DynamicName["at"];
  readonly sets: readonly RRset[];
  readonly logged: DynamicName | undefined;
  /** When the updater last looked. */
  readonly checked: number;
};

const splitTitle = (title: string) => title.split(" ") as [name: string, type: "A" | "AAAA"];

const setOf = (record: KeptRecord, { sets }: Here): RRset | undefined =>
  sets.find(({ type }) => type === splitTitle(record.name)[1]);

function heldBy(record: KeptRecord, here: Here): readonly string[] {
  const set = setOf(record, here);
  if (set !== undefined) return valuesOf(set);
  return here.at === null && record.stored !== null ? [record.stored] : [];
}

function familyOf(record: KeptRecord, here: Here): NameFamily {
  const { ok, wanted, what, because, paused, storedAt } = record;
  const [, type] = splitTitle(record.name);
  const logged = here.logged?.families.find((family) => family.type === type)?.changed;
  const stored = storedAt === null ? null : { at: storedAt, by: "the updater", byHand: false };
  return {
    type,
    values: heldBy(record, here),
    changed: logged ?? stored,
    state: { ok, wanted, ...(paused && { paused: true }), what, because },
  };
}

const lastMove = ({ name, stored, storedAt }: KeptRecord) =>
  stored === null || storedAt === null ? [] : [{ at: storedAt, type: splitTitle(name)[1], address: stored }];

function attentionTo(record: KeptRecord, here: Here): readonly Attention[] {
  const { ok, what, because, todo = null, wanted, stored } = record;
  const [name, type] = splitTitle(record.name);
  // A write that waits for its turn needs no attention.
  const isFailing = !ok && (todo !== null || wanted === null);
  const holds = heldBy(record, here);
  // What the updater has just written may not be in its state yet.
  const isOld = (setOf(record, here)?.records ?? []).every(({ modified }) => modified < here.checked);
  const differs = here.at !== null && stored !== null && isOld && holds.join() !== stored;
  return [
    ...(isFailing ? [{ kind: "name-failing" as const, name, type, what, because, todo }] : []),
    ...(differs ? [{ kind: "record-differs" as const, name, type, ...here.at, written: stored, holds }] : []),
  ];
}
