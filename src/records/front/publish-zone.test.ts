import { describe, expect, test } from "vitest";
import { keyOf } from "../../core/records/rrset.ts";
import { createLog } from "../../process/log.ts";
import type { ChangeOutcome, Provider, ProviderChange } from "../../providers/provider.ts";
import {
  type DriftRule,
  type Publication,
  type PublishedContent,
  type PublishedSet,
  type PublishedSetChange,
  type PublishedZone,
  plainSettings,
  type Zone,
} from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { OpenedAccount } from "./provider-accounts.ts";
import { PublishedZoneWork } from "./publish-zone.ts";
import { stateOf } from "./set-state.ts";

const published: Publication = {
  ...{ provider: 1, name: "hetzner", service: "Hetzner", drift: "ask", readEvery: 900 },
  rules: { lowestTtl: 60, highestTtl: 86_400, mostValues: 50 },
};
const zone = { number: 7, account: 1, name: "one.example", settings: { ...plainSettings(300), published } } as Zone;
const place = { owner: "www", type: "A" } as const;

/** A zone with one set, whose store and provider are objects of the test. */
function rig(drift: DriftRule = "ask") {
  const its = { ...published, drift };
  const rows = new Map<string, PublishedSet>();
  const state = {
    value: "192.0.2.1",
    there: undefined as string | undefined,
    /** What was written to the provider, in order. */
    sent: [] as string[],
    ended: [] as number[],
    errors: [] as (string | undefined)[],
    ttl: 300 as number | null,
    /** Whether the set exists here. */
    isHere: true,
    /** Instead of what a provider usually does with a write. */
    answer: undefined as ((change: ProviderChange) => ChangeOutcome) | undefined,
    /** Whether the list of the whole zone leaves the set out. */
    isHidden: false,
    thereTtl: 300,
    /** Called after the sets were read from the store. */
    afterRead: () => {},
    /** Called while the provider reads a set. */
    whileRead: () => {},
    /** Called while the provider lists its sets. */
    whileListed: () => {},
    /** Called before a row is stored. */
    beforeSave: () => {},
    now: 1_000,
    /** When the token of the provider was stored. */
    replaced: 0,
    /** How many writes were sent twice. */
    resent: 0,
    /** What is noted about the zone. */
    note: {} as Partial<PublishedZone>,
  };
  const store = {
    sets: async () => {
      const read = state.isHere ? [{ ...place, ttl: state.ttl, records: [{ rdata: state.value }] }] : [];
      state.afterRead();
      return read;
    },
    publishedSetsAt: async () => [...rows.values()],
    setsAfter: async () => await store.sets(zone, {}),
    publishedSetsAfter: async () => [...rows.values()],
    publishedZone: async () => undefined,
    providers: async () => [{ id: 1, replaced: state.replaced }],
    replacePublishedSets: async (_: number, changes: readonly PublishedSetChange[]) =>
      changes.flatMap(({ before, after }) => {
        state.beforeSave();
        if (JSON.stringify(rows.get(keyOf(after))) !== JSON.stringify(before)) return [];
        rows.set(keyOf(after), after);
        return [after];
      }),
    historyOf: async () => [
      { position: 1, serial: 5, actor: "test", change: { kind: "settings", before: { ttl: 60 }, after: { ttl: 300 } } },
    ],
    endPublishing: async (_: number, serials: readonly number[], __: number, error?: string) => {
      state.ended.push(...serials);
      state.errors.push(error);
    },
    notePublishedZone: async (_: number, part: Partial<PublishedZone>) => void Object.assign(state.note, part),
  } as unknown as RecordStore;
  const theirs = () => (state.there ? { ...place, ttl: state.thereTtl, values: [state.there] } : undefined);
  const provider = {
    rules: { mostSets: 1, writesInSteps: true, ttl: { zoneDefault: true } },
    wait: () => 0,
    resent: () => state.resent,
    write: async (_: string, changes: readonly ProviderChange[]) =>
      changes.map((change): ChangeOutcome => {
        const { owner, type, content } = change;
        if (state.answer) return state.answer(change);
        state.there = content?.values[0];
        state.sent.push(`${type} ${state.there ?? "deleted"}`);
        return { kind: "done", set: content && { owner, type, ...content } };
      }),
    set: async () => {
      const value = theirs();
      state.whileRead();
      return { kind: "found", value };
    },
    sets: async () => {
      const set = state.isHidden ? undefined : theirs();
      state.whileListed();
      return { kind: "found", value: { sets: set ? [set] : [], unreadable: [] } };
    },
    zones: async () => ({ kind: "found", value: [{ id: "1", name: zone.name, ttl: 300 }] }),
  } as unknown as Provider;
  const now = () => state.now;
  const account = new OpenedAccount({ id: 1, name: "hetzner", replaced: 0 } as never, "", { now, random: () => 0 });
  account.provider = provider;
  const log = createLog({ format: "text", level: "silent", write: () => {} });
  const note = { through: 0, waiting: 0, ttl: 300, readAt: 0, trouble: undefined };
  const work = new PublishedZoneWork(zone, note, { store, now, log, position: () => 0, changed: () => {} });
  const { signal } = new AbortController();
  let retry = 0;
  /** When the last round says that it can be tried again. */
  const publish = async () => {
    state.now += Math.min(retry, 1_000);
    const end = await work.publish(zone, its, account, signal);
    retry = end.retry ?? 0;
    return end;
  };
  const readAll = () => work.readAll(zone, its, account, signal);
  /** Earlier requests can be carried out no more. */
  const minuteLater = async () => {
    state.now += 75_000;
    await readAll();
    await publish();
  };
  return { rows, state, store, work, account, publish, readAll, minuteLater };
}

test("a change that arrives between the read of a set and its sending is sent too", async () => {
  const { state, work, publish } = rig();
  state.afterRead = () => {
    state.afterRead = () => {};
    state.value = "192.0.2.2";
    work.add(2, [place]);
  };
  work.add(1, [place]);
  await publish();
  expect(state.there).toBe("192.0.2.2");
  expect(state.ended).toEqual([1, 2]);
});

test("a set that was proxied is proxied again when it comes again, whoever has deleted it", async () => {
  const { rows, state, work, publish, readAll } = rig("ours");
  rows.set("www A", { ...place, held: { ...held, proxied: true }, at: 0 });
  const asked: unknown[] = [];
  [state.there, state.isHere] = ["192.0.2.1", false];
  state.answer = ({ owner, type, content }) => {
    asked.push(content?.proxied);
    state.there = content?.values[0];
    return { kind: "done", set: content && { owner, type, ...content, proxied: true } };
  };
  work.add(1, [place]);
  await publish();
  state.isHere = true;
  work.add(2, [place]);
  await publish();
  expect(asked).toEqual([undefined, true]);
  expect(rows.get("www A")?.held).toEqual({ ...held, proxied: true });
  state.there = undefined;
  state.now += 100_000;
  await readAll();
  await publish();
  expect(asked).toEqual([undefined, true, true]);
});

test("deletions are sent first: a name cannot have a CNAME and other sets", async () => {
  const { rows, state, work, publish } = rig();
  const held = { ttl: 300, values: ["other.example."] };
  rows.set("www CNAME", { owner: "www", type: "CNAME", held, at: 0 });
  work.add(1, [place, { owner: "www", type: "CNAME" }]);
  await publish();
  expect(state.sent).toEqual(["CNAME deleted", "A 192.0.2.1"]);
});

const held = { ttl: 300, values: ["192.0.2.1"] };
const ttls = { here: 300, there: 300 };
/** As people see it: a set that is to be sent or read, or in doubt, waits. */
const shown = (...[ours, row]: [PublishedContent | null, PublishedSet | undefined]): string => {
  const { kind } = stateOf(ours, row, ttls);
  return ["to-send", "to-read", "in-doubt"].includes(kind) ? "waiting" : kind;
};
const refusal = { kind: "refused", because: "no such TTL", todo: "" } as never;

test("a change of the default TTL ends when the sets that use it are published", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held: { ...held, ttl: 60 }, at: 0 });
  state.ttl = null;
  state.answer = () => ({ kind: "waiting", fault: { kind: "later", because: "busy" } as never, retryAfter: 1 });
  await work.compare(zone, [5]);
  await publish();
  expect(state.ended).toEqual([]);
  state.answer = undefined;
  await publish();
  expect(state.ended).toEqual([5]);
});

test("after a refusal, what the provider holds is read: it may have stored it", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  state.value = "192.0.2.2";
  state.answer = ({ content }) => {
    state.there = content?.values[0];
    return { kind: "refused", fault: refusal };
  };
  work.add(1, [place]);
  await publish();
  const row = rows.get("www A");
  expect([row?.held?.values, row?.refused]).toEqual([["192.0.2.2"], undefined]);
  expect(shown(held, row)).toBe("waiting");
});

test("a set whose values were stored, but not its TTL, is refused with the provider's words", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held: { ...held, ttl: 60 }, at: 0 });
  [state.value, state.thereTtl] = ["192.0.2.2", 60];
  state.answer = ({ content }) => {
    state.there = content?.values[0];
    return { kind: "unknown", fault: refusal };
  };
  work.add(1, [place]);
  await publish();
  expect(shown({ ttl: 300, values: ["192.0.2.2"] }, rows.get("www A"))).toBe("refused");
  expect(state.errors).toEqual(["no such TTL"]);
});

test("a set whose values were stored, before the answer was lost, is sent again with its TTL", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held: { ...held, ttl: 60 }, at: 0 });
  [state.value, state.thereTtl] = ["192.0.2.2", 60];
  state.answer = ({ content }) => {
    state.there = content?.values[0];
    state.answer = undefined;
    return { kind: "unknown", fault: { kind: "later", because: "cut" } as never };
  };
  work.add(1, [place]);
  await publish();
  await publish();
  expect([state.sent, state.ended, state.errors]).toEqual([["A 192.0.2.2"], [1], [undefined]]);
});

test("a set that is missing in the list of the zone is gone only if a second read says so", async () => {
  const { rows, state, readAll } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  [state.there, state.isHidden] = ["192.0.2.1", true];
  await readAll();
  expect(rows.get("www A")?.theirs).toBeUndefined();
  state.there = undefined;
  await readAll();
  expect(rows.get("www A")?.theirs).toBeNull();
});

test("a decision that is made while the zone is read is kept", async () => {
  const { rows, state, readAll } = rig();
  const theirs = { ttl: 300, values: ["192.0.2.7"] };
  rows.set("www A", { ...place, held, theirs, at: 0 });
  state.there = "192.0.2.8";
  const decided = { ...place, held: theirs, at: 1 };
  state.beforeSave = () => rows.set("www A", decided);
  await readAll();
  expect(rows.get("www A")).toEqual(decided);
});

const [second, third] = [
  { ttl: 300, values: ["192.0.2.2"] },
  { ttl: 300, values: ["192.0.2.3"] },
];
/** What another node has stored, which has begun to send something newer. */
const newer = { ...place, held, sent: [{ content: third }], at: 5 };

test("what is stored about a set while it is read at the provider is not overwritten", async () => {
  const { rows, state, work, publish, minuteLater } = rig();
  rows.set("www A", { ...place, held, sent: [{ content: second }], at: 0 });
  [state.value, state.there] = ["192.0.2.2", "192.0.2.2"];
  state.whileRead = () => {
    state.whileRead = () => {};
    rows.set("www A", newer);
    state.there = "192.0.2.3";
  };
  work.add(1, [place]);
  await publish();
  expect([rows.get("www A"), state.ended]).toEqual([newer, []]);
  await publish();
  expect([state.there, state.ended]).toEqual(["192.0.2.2", []]);
  await minuteLater();
  expect([state.there, state.ended]).toEqual(["192.0.2.2", [1]]);
});

test("what is stored about a set while it is sent is not overwritten: the outcome is not known any more", async () => {
  const { rows, state, work, publish, minuteLater } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  [state.value, state.there] = ["192.0.2.2", "192.0.2.1"];
  state.answer = ({ owner, type, content }) => {
    state.answer = undefined;
    rows.set("www A", newer);
    state.there = "192.0.2.3";
    return { kind: "done", set: content && { owner, type, ...content } };
  };
  work.add(1, [place]);
  await publish();
  const sent = [...newer.sent, { content: second, until: 76_000 }];
  expect([rows.get("www A"), state.ended]).toEqual([{ ...newer, sent, at: 1_000 }, []]);
  await publish();
  expect([state.there, state.ended]).toEqual(["192.0.2.2", []]);
  await minuteLater();
  expect([state.there, state.ended]).toEqual(["192.0.2.2", [1]]);
});

test("a set is not sent if something newer was stored about it since it was looked at", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  [state.value, state.there] = ["192.0.2.2", "192.0.2.1"];
  state.beforeSave = () => rows.set("www A", newer);
  work.add(1, [place]);
  expect((await publish()).retry).toBeGreaterThan(0);
  expect([state.sent, state.ended]).toEqual([[], []]);
});

test("after an outcome that is not known, an earlier read of the zone does not count as the late one", async () => {
  const { rows, state, work, publish, readAll } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  [state.value, state.there] = ["192.0.2.2", "192.0.2.1"];
  state.answer = () => ({ kind: "unknown", fault: { kind: "later", because: "cut" } as never });
  work.add(1, [place]);
  await publish();
  state.value = "192.0.2.1";
  await publish();
  const due = () => work.readDue({ ...published, readEvery: 0 });
  expect(due()).toBe(76_000);
  state.now = 30_000;
  await readAll();
  expect(due()).toBe(76_000);
  state.now = 76_000;
  await readAll();
  expect(due()).toBe(Number.POSITIVE_INFINITY);
});

describe("a request that is carried out after its outcome was lost, and after a newer one, is not somebody else's", () => {
  const late = async () => {
    const all = rig();
    const { rows, state, work, publish } = all;
    rows.set("www A", { ...place, held, at: 0 });
    [state.value, state.there] = ["192.0.2.2", "192.0.2.1"];
    state.answer = () => ({ kind: "unknown", fault: { kind: "later", because: "cut" } as never });
    work.add(1, [place]);
    await publish();
    [state.value, state.answer] = ["192.0.2.3", undefined];
    work.add(2, [place]);
    await publish();
    // Not published while the first one may still be carried out.
    expect([state.there, state.ended]).toEqual(["192.0.2.3", []]);
    expect(shown(third, rows.get("www A"))).toBe("waiting");
    return all;
  };

  test("when the zone is read", async () => {
    const { rows, state, publish, readAll, minuteLater } = await late();
    state.there = "192.0.2.2";
    state.now += 15_001;
    await readAll();
    expect(shown(third, rows.get("www A"))).toBe("waiting");
    await publish();
    expect([state.there, rows.get("www A")?.theirs]).toEqual(["192.0.2.3", undefined]);
    await minuteLater();
    expect([shown(third, rows.get("www A")), state.ended]).toEqual(["published", [1, 2]]);
  });

  test("when the set is written", async () => {
    const { state, work, publish, minuteLater } = await late();
    state.there = "192.0.2.2";
    state.now += 15_001;
    state.answer = () => {
      state.answer = undefined;
      return { kind: "drifted", set: { ...place, ttl: 300, values: ["192.0.2.2"] } };
    };
    state.value = "192.0.2.4";
    work.add(3, [place]);
    await publish();
    expect([state.there, state.ended]).toEqual(["192.0.2.4", []]);
    await minuteLater();
    expect([state.there, state.ended, state.errors.filter(Boolean)]).toEqual(["192.0.2.4", [1, 2, 3], []]);
  });

  test("unless it was lost long ago", async () => {
    const { rows, state, readAll, minuteLater } = await late();
    await minuteLater();
    state.there = "192.0.2.2";
    state.now += 7_200_000;
    await readAll();
    expect(rows.get("www A")?.theirs).toEqual(second);
  });
});

test("after a refusal that may be the answer to a repetition, the zone is read again when its requests are over", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  [state.value, state.there] = ["192.0.2.2", "192.0.2.1"];
  state.answer = () => ({ kind: "unknown", fault: refusal });
  work.add(2, [place]);
  await publish();
  expect(work.readDue({ ...published, readEvery: 0 })).toBe(76_000);
});

test("after a request that was sent twice, the zone is read again when its requests are over: its first copy may be carried out", async () => {
  const { rows, state, work, publish, readAll } = rig("ours");
  rows.set("www A", { ...place, held, at: 0 });
  state.answer = ({ owner, type, content }) => {
    state.resent += 1;
    return { kind: "done", set: content && { owner, type, ...content } };
  };
  state.value = "192.0.2.2";
  work.add(1, [place]);
  await publish();
  state.answer = undefined;
  state.value = "192.0.2.3";
  work.add(2, [place]);
  await publish();
  state.there = "192.0.2.2";
  state.now = work.readDue({ ...published, readEvery: 0 });
  expect(state.now).toBe(76_000);
  await readAll();
  await publish();
  expect([state.there, state.ended, state.errors.filter(Boolean)]).toEqual(["192.0.2.3", [1, 2], []]);
});

test("a zone whose last run ended in the middle of a request is read again when its requests are over", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, sent: [{ content: second }], at: 0 });
  state.there = "192.0.2.1";
  await work.compare(zone, []);
  await publish();
  expect(work.readDue({ ...published, readEvery: 0 })).toBe(76_000);
});

test("the history is read once for all running actions, in parts, back to the oldest of them", async () => {
  const { state, store, work, publish } = rig();
  // Of 50 writes, 100 rows each.
  const log = Array.from({ length: 5_000 }, (_, at) => ({
    ...{ position: 5_000 - at, serial: Math.ceil((5_000 - at) / 100), actor: "test" },
    change: { owner: `n${at % 100}`, type: "A" },
  }));
  const limits: number[] = [];
  Object.assign(store, {
    historyOf: async (_: Zone, { before = 9_999, limit }: { before?: number; limit: number }) => {
      limits.push(limit);
      return log.filter(({ position }) => position < before).slice(0, limit);
    },
  });
  await work.compare(zone, [35, 45, 49]);
  expect(limits).toEqual([1_000, 1_000]);
  await publish();
  expect(state.ended.toSorted((a, b) => a - b)).toEqual([35, 45, 49]);
});

test("what is on its way is counted as waiting", async () => {
  const { state, work, publish } = rig();
  let counted: number | undefined;
  state.answer = ({ owner, type, content }) => {
    counted = state.note.waiting;
    return { kind: "done", set: content && { owner, type, ...content } };
  };
  work.add(1, [place]);
  await publish();
  expect([counted, state.note.waiting]).toEqual([1, 0]);
});

test.each(["missing", "ambiguous"] as const)("while the zone there is %s, a set waits", async (kind) => {
  const { rows, state, work, publish } = rig();
  state.answer = () => ({ kind: "refused", fault: { kind, because: "two of that name", todo: "" } });
  work.add(1, [place]);
  const end = await publish();
  expect([end.retry, rows.get("www A")?.refused, state.ended]).toEqual([500, undefined, []]);
  expect(state.note.trouble?.text).toBe("two of that name");
  state.answer = undefined;
  await publish();
  expect([state.sent, state.ended]).toEqual([["A 192.0.2.1"], [1]]);
});

test("trouble ends when everything is published, although a read has shown that", async () => {
  const { state, work, publish } = rig();
  state.answer = ({ content }) => {
    state.there = content?.values[0];
    return { kind: "unknown", fault: { kind: "later", because: "cut" } as never };
  };
  work.add(1, [place]);
  await publish();
  expect(state.note.trouble?.text).toBe("cut");
  await publish();
  expect([state.ended, state.note.trouble]).toEqual([[1], undefined]);
});

test("a request that another leader did not wait for makes what it has stored doubtful", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  state.value = "192.0.2.2";
  state.answer = ({ owner, type, content }) => {
    rows.set("www A", { ...place, held: third, at: 5 });
    state.answer = () => ({ kind: "unknown", fault: { kind: "later", because: "cut" } as never });
    return { kind: "done", set: content && { owner, type, ...content } };
  };
  work.add(1, [place]);
  await publish();
  expect(shown(third, rows.get("www A"))).toBe("waiting");
});

test("with another token, the zone is read again: the account may be another one", async () => {
  const { state, work, account, publish } = rig();
  await publish();
  expect(state.note.readAt).toBe(undefined);
  [state.now, state.replaced] = [5_000, 1];
  account.renew({ id: 1, name: "hetzner", replaced: 1 } as never, { signer: { decryptText: () => "" } });
  work.add(1, [place]);
  await publish();
  expect(state.note.readAt).toBe(5_000);
  expect(state.ended).toEqual([1]);
});

test("what was read with a token that is replaced meanwhile does not count: it may be the zone of another account", async () => {
  const { state, readAll } = rig();
  await readAll();
  expect(state.note.readAt).toBe(1_000);
  state.replaced = 5;
  await readAll();
  expect(state.note.readAt).toBe(0);
});

test("a read of the zone counts for sets that wait too: a change that is undone before it is sent is not published", async () => {
  const { rows, state, work, readAll } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  work.add(1, [place]);
  state.value = "192.0.2.2";
  await readAll();
  expect(shown(held, rows.get("www A"))).toBe("drifted");
});

test("what is stored about a set while the zone is read at the provider is newer than that read", async () => {
  const { rows, state, readAll } = rig("ours");
  const second = { ttl: 300, values: ["192.0.2.2"] };
  rows.set("www A", { ...place, held, at: 0 });
  [state.there, state.value] = ["192.0.2.9", "192.0.2.2"];
  // Another leader.
  state.whileListed = () => rows.set("www A", { ...place, held: second, at: 5 });
  await readAll();
  expect(shown(second, rows.get("www A"))).toBe("published");
  rows.clear();
  state.there = "192.0.2.2";
  // The zone is published at another provider.
  state.whileListed = () => rows.set("www A", { ...place, held: null, sent: [{ content: second }], at: 6 });
  await readAll();
  expect(shown(second, rows.get("www A"))).toBe("waiting");
});

test("an action ends although the store could not be used when its set was published", async () => {
  const { state, store, work, publish } = rig();
  const { endPublishing } = store;
  Object.assign(store, { endPublishing: () => Promise.reject(new Error("busy")) });
  work.add(1, [place]);
  await expect(publish()).rejects.toThrow("busy");
  Object.assign(store, { endPublishing });
  await publish();
  expect(state.ended).toEqual([1]);
});

test("a zone that was not read since its token was replaced is read at the start", async () => {
  const { state, store, work, publish } = rig();
  Object.assign(store, { publishedZone: async () => ({ through: 0, waiting: 0, ttl: 300, readAt: 0 }) });
  await work.compare(zone, []);
  await publish();
  expect(state.note.readAt).toBe(1_000);
});

describe("a read that shows what was replaced a moment ago", () => {
  const other = { kind: "found", value: { ...place, ttl: 300, values: ["192.0.2.1"] } };

  test("is no drift: the set is sent when a read shows what it holds", async () => {
    const { rows, state, work, publish } = rig();
    rows.set("www A", { ...place, held, at: 0 });
    for (const value of ["192.0.2.2", "192.0.2.3"]) {
      if (value.endsWith("3")) state.answer = () => ({ kind: "drifted", set: other.value });
      state.value = value;
      work.add(Number(value.at(-1)), [place]);
      await publish();
    }
    expect(shown({ ...held, values: ["192.0.2.3"] }, rows.get("www A"))).toBe("waiting");
    state.answer = undefined;
    await publish();
    expect([state.there, state.ended, state.errors.filter(Boolean)]).toEqual(["192.0.2.3", [2, 3], []]);
  });

  test("does not count as published", async () => {
    const { rows, state, work, publish } = rig();
    rows.set("www A", { ...place, held, at: 0 });
    state.value = "192.0.2.2";
    work.add(2, [place]);
    await publish();
    state.value = "192.0.2.1";
    state.answer = () => ({ kind: "done", set: other.value, wasThere: true });
    work.add(3, [place]);
    await publish();
    expect([shown(held, rows.get("www A")), state.ended]).toEqual(["waiting", [2]]);
    state.answer = undefined;
    await publish();
    expect([state.there, state.ended]).toEqual(["192.0.2.1", [2, 3]]);
  });

  test("does not show that a request was not carried out", async () => {
    const { rows, state, work, publish, minuteLater } = rig();
    rows.set("www A", { ...place, held, at: 0 });
    state.value = "192.0.2.2";
    state.answer = () => ({ kind: "unknown", fault: { kind: "later", because: "cut", todo: "" } });
    work.add(2, [place]);
    await publish();
    [state.value, state.there] = ["192.0.2.1", "192.0.2.1"];
    work.add(3, [place]);
    await publish();
    expect([shown(held, rows.get("www A")), state.ended]).toEqual(["waiting", []]);
    await minuteLater();
    expect([shown(held, rows.get("www A")), state.ended]).toEqual(["published", [2, 3]]);
  });

  test("says nothing about the zone of a new token, which counts as not read", async () => {
    const { rows, state, work, account, publish } = rig();
    rows.set("www A", { ...place, held, at: 0 });
    state.value = "192.0.2.2";
    work.add(2, [place]);
    await publish();
    state.replaced = 1;
    account.renew({ id: 1, name: "hetzner", replaced: 1 } as never, { signer: { decryptText: () => "" } });
    state.there = "192.0.2.1";
    await publish();
    expect([rows.get("www A")?.theirs, state.note.readAt]).toEqual([undefined, 0]);
    state.now += 15_001;
    await publish();
    expect([rows.get("www A")?.theirs, state.note.readAt]).toEqual([held, state.now]);
  });

  test("is no drift when the zone is read, unless it goes on", async () => {
    const { rows, state, work, publish, readAll } = rig();
    rows.set("www A", { ...place, held, at: 0 });
    state.value = "192.0.2.2";
    work.add(2, [place]);
    await publish();
    state.there = "192.0.2.1";
    await readAll();
    expect(shown({ ...held, values: ["192.0.2.2"] }, rows.get("www A"))).toBe("published");
    state.now = work.readDue({ ...published, readEvery: 0 });
    expect(state.now).toBe(76_000);
    await readAll();
    expect(shown({ ...held, values: ["192.0.2.2"] }, rows.get("www A"))).toBe("drifted");
  });
});

test("after 15 seconds of trouble with a zone, it is tried again soon, however often it was written meanwhile", async () => {
  const { rows, state, work, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  let asked = 0;
  const fault = { kind: "refused", because: "the zone is locked", todo: "", code: "locked" } as const;
  state.answer = () => {
    asked += 1;
    return { kind: "waiting", fault, retryAfter: 0 };
  };
  let retry: number | undefined;
  for (let write = 1; write <= 60; write += 1) {
    state.value = `192.0.2.${write + 1}`;
    work.add(write, [place]);
    ({ retry } = await publish());
    state.now += 250;
  }
  expect(asked).toBeLessThan(12);
  expect(retry).toBeLessThanOrEqual(7_500);
  state.answer = undefined;
  state.now += retry ?? 0;
  await publish();
  expect(state.there).toBe("192.0.2.61");
});

test("a write that is undone before it was sent ends while the provider cannot be asked", async () => {
  const { rows, state, work, account, publish } = rig();
  rows.set("www A", { ...place, held, at: 0 });
  account.provider = { ...account.provider, wait: () => 60_000 };
  state.value = "192.0.2.2";
  work.add(1, [place]);
  await publish();
  expect([state.ended, work.isIdle]).toEqual([[], false]);
  state.value = "192.0.2.1";
  work.add(2, [place]);
  expect((await publish()).retry).toBeGreaterThan(0);
  expect([state.ended, work.isIdle, state.sent]).toEqual([[1, 2], true, []]);
});

test("a provider that works again ends the wait of all zones of its token", () => {
  const recovered: string[] = [];
  const clock = { now: () => 1_000, random: () => 0, recovered: () => recovered.push("now") };
  const account = new OpenedAccount({ id: 1, name: "hetzner", replaced: 0 } as never, "", clock);
  account.provider = { wait: () => 0 } as unknown as Provider;
  for (let failure = 0; failure < 15; failure += 1) account.failed();
  expect(account.wait("one.example")).toBe(500);
  account.worked();
  account.worked();
  expect([account.wait("one.example"), recovered]).toEqual([0, ["now"]]);
});
