import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { openLoop } from "../../../test/rig/updater/loop.ts";
import { managedRecordsOf } from "../round/managed-records.ts";
import { createAskPublished } from "./ask-published.ts";

const many = Array.from({ length: 50 }, (_, i) => `  - { name: h${i}, zone: example.org, ipv4: wan0 }`).join("\n");

/** A page with fifty names; the record service is a function that counts its calls. */
async function openPageOf(names: string) {
  const loop = await openLoop(names);
  const records = managedRecordsOf(loop.config);
  const clock = { now: 0 };
  const stored = new Map<string, string>();
  const counted = { asked: 0, open: 0, most: 0 };
  const { ask, forget } = createAskPublished({
    records,
    stored: () => stored,
    now: () => clock.now,
    async published({ displayName }) {
      counted.asked++;
      counted.most = Math.max(counted.most, ++counted.open);
      await turn();
      counted.open--;
      return { kind: "found", value: { values: [stored.get(displayName) ?? "192.0.2.1"], ttl: null } };
    },
  });
  return { loop, records, clock, stored, counted, ask, forget };
}

describe("what the record service holds, for a page that is left open", () => {
  it("is read for four names in parallel, with one request per name, and shared", async () => {
    const { loop, counted, ask } = await openPageOf(many);
    const [one, other] = await Promise.all([ask(), ask()]);
    expect(Object.keys(one)).toHaveLength(50);
    expect(other).toEqual(one);
    expect(counted).toEqual({ asked: 50, open: 0, most: 4 });
    await loop.close();
  });

  it("is read again after two seconds per name, or when that name was written", async () => {
    const { loop, records, clock, stored, counted, ask } = await openPageOf(many);
    await ask();
    clock.now = 99_000;
    await ask();
    expect(counted.asked).toBe(50);
    const { displayName = "" } = records[7] ?? {};
    stored.set(displayName, "192.0.2.7");
    expect((await ask())[displayName]).toEqual(["192.0.2.7"]);
    expect(counted.asked).toBe(51);
    clock.now = 100_001;
    await ask();
    expect(counted.asked).toBe(100);
    await loop.close();
  });
});

describe("a person who asks for a check", () => {
  it("gets no old values, not even those of requests under way", async () => {
    const { loop, counted, ask, forget } = await openPageOf(many);
    await ask();
    forget();
    const asking = ask();
    expect(counted.asked).toBeGreaterThan(50);
    forget();
    await Promise.all([asking, ask()]);
    expect(counted.asked).toBeGreaterThan(100);
    const known = counted.asked;
    await ask();
    expect(counted.asked).toBe(known);
    await loop.close();
  });
});

describe("a record service that sent a Retry-After", () => {
  it("is not read for the page before that time", async () => {
    const loop = await openLoop();
    const [record] = managedRecordsOf(loop.config);
    if (record === undefined) throw new Error("there is a name in the config");
    loop.says.service = () => ({ status: 429, headers: { "retry-after": "60" } });
    await loop.round();
    loop.says.service = () => undefined;
    const asked = loop.service.asked.length;
    const look = () => loop.updater.published(record, AbortSignal.timeout(patience));
    expect(await look()).toMatchObject({
      kind: "later",
      because: expect.stringContaining("moor leaves the record service alone until"),
    });
    expect(loop.service.asked.length).toBe(asked);
    loop.clock.now += 61_000;
    expect(await look()).toMatchObject({ kind: "found" });
    await loop.close();
  });
});
