import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ZoneLimits, ZoneQueue } from "./zone-queue.ts";

/** Zones are `account/primary/number`; a turn lasts until the test ends it. */
function lab(limits: ZoneLimits) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = new ZoneQueue(limits, (zone) => {
    started.push(zone);
    return new Promise<void>((resolve) => ends.set(zone, resolve));
  });
  return {
    started,
    running: () => [...ends.keys()],
    add: (zone: string) => {
      const [account = "", primary = ""] = zone.split("/");
      queue.add(zone, { account: Number(account), primary });
    },
    end: async (zone: string) => {
      ends.get(zone)?.();
      ends.delete(zone);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}/${i}`);
const limits = { all: 8, account: 4, primary: 2 };

describe("turns of secondary zones", () => {
  it("one account with slow primaries leaves permits to the others, however many zones it has", () => {
    const { add, running } = lab(limits);
    for (let i = 0; i < 1_000; i++) add(`1/slow${i % 50}/${i}`);
    expect(running()).toHaveLength(4);
    add("2/good/0");
    expect(running()).toContain("2/good/0");
  });

  it("one slow primary leaves permits of its account to the other primaries", () => {
    const { add, running } = lab(limits);
    for (const zone of many("1/slow", 100)) add(zone);
    add("1/good/0");
    expect(running()).toEqual(["1/slow/0", "1/slow/1", "1/good/0"]);
  });

  it("accounts take turns, and so do the primaries of each account", async () => {
    const { add, started, end } = lab({ all: 1, account: 1, primary: 1 });
    add("0/x/0");
    for (const zone of [...many("1/a", 2), ...many("1/b", 2), ...many("2/c", 3)]) add(zone);
    while (started.length < 8) await end(started.at(-1) ?? "");
    expect(started.slice(1)).toEqual(["1/a/0", "2/c/0", "1/b/0", "2/c/1", "1/a/1", "2/c/2", "1/b/1"]);
  });

  it("a zone that is added during its turn gets another turn", async () => {
    const { add, started, end } = lab(limits);
    for (let i = 0; i < 3; i++) add("1/a/0");
    expect(started).toEqual(["1/a/0"]);
    await end("1/a/0");
    expect(started).toEqual(["1/a/0", "1/a/0"]);
  });

  it("every zone gets its turn, and no limit is ever exceeded", async () => {
    const zone = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(9)).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(zone, { maxLength: 60 }), async (zones) => {
        const { add, started, running, end } = lab(limits);
        for (const each of zones) add(each);
        for (let first = running()[0]; first !== undefined; first = running()[0]) {
          const most = (of: (zone: string) => string) =>
            Math.max(...[...Map.groupBy(running(), of).values()].map((group) => group.length));
          expect(running().length).toBeLessThanOrEqual(limits.all);
          expect(most((each) => each.split("/")[0] ?? "")).toBeLessThanOrEqual(limits.account);
          expect(most((each) => each.split("/").slice(0, 2).join())).toBeLessThanOrEqual(limits.primary);
          await end(first);
        }
        expect(started.toSorted()).toEqual(zones.toSorted());
      }),
    );
  });
});
