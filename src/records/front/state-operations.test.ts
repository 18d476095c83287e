import { expect, test } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import type { SetKey } from "../../core/records/rrset.ts";
import { type Publication, type PublishedSet, plainSettings, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import type { PermittedView } from "../queries/permitted-view.ts";
import { stateOperations } from "./state-operations.ts";

const published = { service: "Hetzner", drift: "ask", readEvery: 900 } as Publication;
const zone = { number: 7, name: "one.example", settings: { ...plainSettings(300), published } } as Zone;
const actor = { account: 1, label: "test", scope: wholeAccount };

/** 5,000 sets here, 5,002 there, and 4,002 of them are the same. */
function rig(readAt = 1) {
  const names = (from: number) => Array.from({ length: 5_000 }, (_, at) => `n${10_000 + from + at}`);
  const content = { ttl: 300, values: ["192.0.2.1"] };
  // The 500th set, with which a part ends, has the owner of the next one.
  const placeOf = (name: string): SetKey =>
    name === "n10500" ? { owner: "n10499", type: "AAAA" } : { owner: name, type: "A" };
  const sets = names(0).map((name) => ({ ...placeOf(name), ttl: 300, records: [{ rdata: "192.0.2.1" }] }));
  const rows = names(1_000).map((owner): PublishedSet => ({ owner, type: "A", held: content, at: 1 }));
  for (const name of ["n10500", "n10499"]) rows.unshift({ ...placeOf(name), held: content, at: 1 });
  const reads: number[] = [];
  const noted = <T>(read: readonly T[]): readonly T[] => {
    reads.push(read.length);
    return read;
  };
  const textOf = ({ owner, type }: SetKey) => `${owner} ${type}`;
  const after = <T extends SetKey>(all: readonly T[], last: SetKey | undefined, limit: number) =>
    noted(all.filter((each) => last === undefined || textOf(each) > textOf(last)).slice(0, limit));
  const at = <T extends SetKey>(all: readonly T[], owners: readonly string[]) => {
    const wanted = new Set(owners);
    return noted(all.filter(({ owner }) => wanted.has(owner)));
  };
  const here = sets as unknown as readonly SetKey[];
  const store = {
    publishedZone: async () => ({ through: 0, waiting: 0, ttl: 300, readAt, trouble: undefined }),
    sets: async (_: Zone, { owners }: { owners?: readonly string[] }) => (owners ? at(here, owners) : noted(here)),
    setsAfter: async (_: Zone, last: SetKey | undefined, limit: number) => after(here, last, limit),
    publishedSetsAt: async (_: number, owners: readonly string[]) => at(rows, owners),
    publishedSetsAfter: async (_: number, last: SetKey | undefined, limit: number) => after(rows, last, limit),
  };
  const sight = { openZone: async () => zone, allows: () => true } as unknown as PermittedView;
  return { reads, states: stateOperations({ store } as unknown as RecordServiceOptions, sight) };
}

test("the states of a large zone are computed in small steps, in the order of names", async () => {
  const { reads, states } = rig();
  const { publication } = (await states.publicationOf(actor, { number: 7 })) as { publication: { counts: unknown } };
  expect(publication.counts).toEqual({ published: 4_002, waiting: 1_998, refused: 0, drifted: 0 });
  const found = await states.setStates(actor, { number: 7 }, { states: ["waiting"] });
  const owners = found.kind === "done" ? found.sets.map(({ owner }) => owner) : [];
  expect([owners.length, owners[0], owners.at(-1)]).toEqual([1_998, "n10000", "n15999"]);
  expect(owners).toEqual(owners.toSorted());
  expect(Math.max(...reads)).toBeLessThanOrEqual(501);
});

test("of one name, nothing else is read", async () => {
  const { reads, states } = rig();
  const found = await states.setStates(actor, { number: 7 }, { owner: "n12000" });
  expect(found).toMatchObject({ kind: "done", sets: [{ owner: "n12000", state: "published" }] });
  expect(reads).toEqual([1, 1]);
});

test("no set is published before the zone was read with its new token", async () => {
  const { states } = rig(0);
  const { publication } = (await states.publicationOf(actor, { number: 7 })) as { publication: { counts: unknown } };
  expect(publication.counts).toMatchObject({ published: 0, waiting: 6_000 });
});
