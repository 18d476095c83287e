import { expect, test } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { type LoggedRow, type Publication, plainSettings, type Zone } from "../model.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { RecordStore, Rule } from "../store/port.ts";
import { confirming, mostWaiting } from "./confirm.ts";

const settings = { ...plainSettings(300), published: { service: "Hetzner", drift: "ask" } as unknown as Publication };
const zone = { number: 7, account: 1, name: "one.example", settings } as Zone;
const actor = { account: 1, label: "test", scope: { ...wholeAccount, confirm: "provider" as const } };
const nameOf = (at: number) => `n${at}`;
const owners = Array.from({ length: 5_000 }, (_, at) => nameOf(at));
const set = (owner: string) => ({ owner, type: "A", ttl: 300, records: [{ rdata: "192.0.2.1" }] });

/** A zone of 5,000 sets, and what is read of it. */
class Rig {
  /** What the provider does not have. */
  readonly unpublished = new Set<string>();
  readonly refused = new Set<string>();
  /** The sets that a command changes. */
  written: readonly string[] = [];
  result: object = { result: { kind: "done" } };
  zone: Zone | undefined = zone;
  runs = 0;
  reads = 0;
  setsRead = 0;
  notesRead = 0;
  note = { ttl: 300, waiting: 0, readAt: 1 };
  announce: (zone: number) => void = () => {};
  readonly #log: LoggedRow[] = [];
  readonly #onNote = new Set<() => void>();
  readonly #store;

  constructor(longest = 60_000) {
    const listen = (listener: (zone: number) => void) => {
      this.announce = listener;
      return () => {};
    };
    this.#store = confirming(this.#tables, { onPublished: listen, longest, noteEvery: 1 });
  }

  get #tables(): RecordStore {
    const setsOf = (names: readonly string[]) => {
      this.reads += 1;
      this.setsRead += names.length;
      return names.map(set);
    };
    const rows = (names: readonly string[]) =>
      names
        .filter((owner) => !this.unpublished.has(owner))
        .map((owner) => ({ owner, type: "A", held: { ttl: 300, values: ["192.0.2.1"] }, at: 1 }));
    const refusals = (names: readonly string[]) =>
      names
        .filter((owner) => this.refused.has(owner))
        .map((owner) => {
          const refused = { content: { ttl: 300, values: ["192.0.2.1"] }, words: "no" };
          return { owner, type: "A", held: null, refused, at: 1 };
        });
    const after = (last: { owner: string } | undefined, limit: number) => {
      const from = last ? owners.indexOf(last.owner) + 1 : 0;
      return owners.slice(from, from + limit);
    };
    return {
      lastChange: async () => this.#log.length,
      zoneBy: () => this.zone,
      record: async (_: number, owner: string) => ({ zone, owner }),
      run: async () => {
        this.runs += 1;
        for (const owner of this.written) {
          const change = { kind: "create", owner, type: "A" };
          this.#log.push({ position: this.#log.length + 1, zone: 7, actor: "test", change } as unknown as LoggedRow);
        }
        return this.result;
      },
      changesAfter: async (position: number, limit: number) => this.#log.slice(position, position + limit),
      publishedZone: async () => {
        this.notesRead += 1;
        for (const listener of this.#onNote) listener();
        return this.note;
      },
      sets: async (_: Zone, query: { owners: readonly string[] }) => setsOf(query.owners),
      setsAfter: async (_: Zone, last: { owner: string } | undefined, limit: number) => setsOf(after(last, limit)),
      publishedSetsAt: async (_: number, names: readonly string[]) => [...rows(names), ...refusals(names)],
      publishedSetsAfter: async (_: number, last: { owner: string } | undefined, limit: number) =>
        rows(after(last, limit)),
    } as unknown as RecordStore;
  }

  /** A command about these names. */
  run(names: readonly string[] | "all", by: Actor = actor, records: readonly string[] = []): Promise<unknown> {
    const request = { account: 1, at: { number: 7 }, owners: names === "all" ? names : () => names, records };
    const rule = { kind: "action", request } as unknown as Rule;
    return this.#store.run({ kind: "x", actor: by }, () => rule);
  }

  /** The note of the zone was read that often from now on. */
  async notes(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onNote.add(resolve);
      await promise;
      this.#onNote.delete(resolve);
    }
  }
}

test("a large write is confirmed when all of its sets are published", async () => {
  const rig = new Rig();
  rig.written = owners;
  rig.unpublished.add(nameOf(4_999));
  const confirmed = rig.run(owners);
  await rig.notes(3);
  expect(await Promise.race([confirmed, Promise.resolve("waits")])).toBe("waits");
  rig.unpublished.clear();
  rig.announce(7);
  expect(await confirmed).toBe(rig.result);
});

test("a write is not confirmed if it takes longer than the limit", async () => {
  const rig = new Rig(1);
  rig.unpublished.add("n1");
  // The publisher logs once that the provider cannot be reached.
  const late = { message: expect.stringContaining("not at the provider after"), isLogged: true };
  await expect(rig.run(["n1"])).rejects.toMatchObject(late);
});

test("a write is not confirmed if its zone is unpublished or deleted meanwhile", async () => {
  for (const later of [{ ...zone, settings: plainSettings(300) }, undefined]) {
    const rig = new Rig();
    rig.unpublished.add("n1");
    const confirmed = rig.run(["n1"]);
    await rig.notes(1);
    rig.zone = later;
    rig.announce(7);
    await expect(confirmed).rejects.toThrow("no longer published");
  }
});

test("a write that was refused is answered with its reason, and not with the state of what was written before", async () => {
  for (const kind of ["refused", "denied", "missing"]) {
    const rig = new Rig();
    rig.unpublished.add("n1");
    rig.result = { result: { kind } };
    expect(await rig.run(["n1"])).toEqual({ result: { kind } });
  }
});

test("a write that changes nothing waits for the names that it is about, and reads no others", async () => {
  const rig = new Rig();
  rig.unpublished.add("n3").add("n4");
  expect(await rig.run(["n1", "n2"])).toBe(rig.result);
  expect(rig.setsRead).toBe(2);
  rig.refused.add("n3");
  // The record of another name.
  await expect(rig.run(["n1"], actor, ["n3"])).rejects.toThrow("not published");
  await expect(rig.run(["n3"])).rejects.toThrow("stored, but not published: no");
});

test("a write to a whole zone that changes nothing waits for all of it", async () => {
  const rig = new Rig();
  rig.unpublished.add("n4000");
  const confirmed = rig.run("all");
  await rig.notes(1);
  rig.unpublished.clear();
  rig.announce(7);
  expect(await confirmed).toBe(rig.result);
  rig.refused.add("n17");
  rig.unpublished.add("n17");
  await expect(rig.run("all")).rejects.toThrow("not published: no");
});

test("a whole zone is not read while something of it waits", async () => {
  const rig = new Rig();
  rig.note = { ...rig.note, waiting: 1 };
  const confirmed = rig.run("all");
  await rig.notes(10);
  expect(rig.setsRead).toBe(0);
  rig.note = { ...rig.note, waiting: 0 };
  expect(await confirmed).toBe(rig.result);
  expect(rig.setsRead).toBe(5_000);
});

test("all who wait for a zone share a look, which comes after news only and reads at most 500 sets", async () => {
  const rig = new Rig();
  const tokens = Array.from({ length: 5 }, (_, at) => ({ ...actor, label: `token ${at}` }));
  for (const owner of owners) rig.unpublished.add(owner);
  const confirmed = tokens.flatMap((by) => [rig.run(owners.slice(0, 1_000), by), rig.run(["n1"], by)]);
  await rig.notes(5);
  // What ten requests were about is read once for each of them; and then one look for all.
  const { reads, setsRead } = rig;
  await rig.notes(50);
  expect(rig.reads).toBe(reads);
  rig.announce(7);
  await rig.notes(5);
  expect(rig.reads).toBe(reads + 1);
  expect(rig.setsRead).toBeLessThanOrEqual(setsRead + 500);
  // Another node has published something: only the note tells.
  rig.note = { ...rig.note, waiting: 4 };
  await rig.notes(5);
  expect(rig.reads).toBe(reads + 2);
  rig.unpublished.clear();
  rig.announce(7);
  await Promise.all(confirmed);
});

test("of one token, twenty may wait, and of one account a hundred; the next one writes nothing", async () => {
  const rig = new Rig();
  rig.unpublished.add("n1");
  const byToken = (token: number) => ({ ...actor, label: `token ${token}` });
  const waiting: Promise<unknown>[] = [];
  for (let token = 0; token < 5; token += 1) {
    for (let at = 0; at < mostWaiting.perToken; at += 1) waiting.push(rig.run(["n1"], byToken(token)));
    await expect(rig.run(["n1"], byToken(token))).rejects.toMatchObject({ retryAfter: 10, isLogged: true });
  }
  await expect(rig.run(["n1"], byToken(5))).rejects.toThrow("nothing was written");
  expect(rig.runs).toBe(mostWaiting.perAccount);
  rig.unpublished.clear();
  rig.announce(7);
  await Promise.all(waiting);
  expect(await rig.run(["n1"], byToken(5))).toBe(rig.result);
});

test("who hangs up does not wait, and makes room for another one", async () => {
  const rig = new Rig();
  rig.unpublished.add("n1");
  const connection = { isClosed: false };
  const waiting = Array.from({ length: mostWaiting.perToken }, () => rig.run(["n1"], { ...actor, connection }));
  await expect(rig.run(["n1"])).rejects.toThrow("too many");
  connection.isClosed = true;
  for (const each of waiting) await expect(each).rejects.toThrow("closed the connection");
  expect(await rig.run(["n2"])).toBe(rig.result);
});
