import { afterEach, describe, expect, it, vi } from "vitest";
import { StoreBusy } from "../lib/limits/store-busy.ts";
import { createLog } from "../process/log.ts";
import type { LinkedRow, LogPlace } from "../records/model.ts";
import type { ChangeListener, DivergedLog, RecordStore } from "../records/store/port.ts";
import { LogFollower } from "./follow-log.ts";

const row = (position: number, history = "a"): LinkedRow =>
  ({
    ...placeIn(history, position),
    zone: 1,
    zoneName: `${position}.example`,
    serial: position,
  }) as unknown as LinkedRow;

const placeIn = (history: string, position: number): LogPlace => ({ position, link: `${history}${position}` });

/** As the store reports its own writes. */
const added = (position: number, history = "a") =>
  [[row(position, history)], { after: placeIn(history, position - 1), end: placeIn(history, position) }] as const;

describe("following the log", () => {
  let wake: ChangeListener = () => undefined;
  let trouble: Error | undefined;
  let last = 0;
  /** Rows up to here are of the history `a`, later ones of `b`. */
  let fork = Number.POSITIVE_INFINITY;
  let answer: Promise<unknown> | undefined;
  /** Instead of the rows up to `last`. */
  let logFrom: ((place: LogPlace) => Promise<readonly unknown[]>) | undefined;
  const rowNow = (position: number) => row(position, position > fork ? "b" : "a");
  const heard: unknown[] = [];
  const said: string[] = [];
  const store = {
    logEnd: async () => rowNow(last),
    logFrom: async (place: LogPlace) => {
      if (logFrom !== undefined) return await logFrom(place);
      const { position, link } = place;
      await answer;
      if (trouble) throw trouble;
      const isHere = position === 0 || (position <= last && rowNow(position).link === link);
      return isHere ? Array.from({ length: last - position }, (_, i) => rowNow(position + 1 + i)) : otherHistory;
    },
    onChange: (listener: ChangeListener) => {
      wake = listener;
      return () => {
        wake = () => undefined;
      };
    },
  } as unknown as RecordStore;
  const otherHistory: DivergedLog = {
    placesStillInLog: async (places) =>
      new Set(
        places.flatMap(({ position, link }) => (position > 0 && rowNow(position).link === link ? [position] : [])),
      ),
    skipTo: async () => undefined,
  };
  let follower: LogFollower | undefined;

  const follow = () => {
    vi.useFakeTimers();
    [trouble, last, fork, answer, logFrom] = [undefined, 0, Number.POSITIVE_INFINITY, undefined, undefined];
    heard.length = 0;
    said.length = 0;
    follower = new LogFollower(
      store,
      placeIn("a", 0),
      createLog({ format: "json", write: (line) => said.push(line) }),
      {
        rows: (rows) => heard.push(rows.map(({ position }) => position)),
        lost: () => heard.push("lost"),
        rolledBack: ({ details, position, end }) => heard.push({ ...details, position, end }),
        written: () => undefined,
        reported: (number) => heard.push(`reported ${number}`),
      },
    );
  };
  const grow = (rows: number) => {
    last += rows;
    wake();
  };
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  afterEach(() => {
    follower?.close();
    vi.useRealTimers();
  });

  it("loses nothing while the store is down, and continues from the same position", async () => {
    follow();
    grow(1);
    await settle();
    trouble = new StoreBusy("the database cannot be reached");
    grow(2);
    await settle(500);
    expect(heard).toEqual([[1], "reported 1", "reported 2"]);
    trouble = undefined;
    await settle(5_000);
    expect(heard).toEqual([[1], "reported 1", "reported 2", [2, 3], "reported 2"]);
  });

  it("logs once that the store is down, however long it lasts, and that it is back", async () => {
    follow();
    trouble = new StoreBusy("permission denied for table changes");
    grow(1);
    await settle(10_000);
    trouble = undefined;
    await settle(5_000);
    expect(said.map((line) => JSON.parse(line).msg)).toEqual([
      "the change log cannot be read; trying again every second",
      "the change log can be read again",
    ]);
    trouble = new StoreBusy("away", { isLogged: true });
    grow(1);
    await settle(3_000);
    trouble = undefined;
    await settle(3_000);
    expect(said).toHaveLength(2);
  });

  it("continues immediately when it is notified of a change, and skips none before it", async () => {
    follow();
    trouble = new StoreBusy("the database cannot be reached");
    grow(2);
    await settle();
    trouble = undefined;
    last += 1;
    wake(...added(3));
    await settle();
    expect(heard).toEqual(["reported 1", [1, 2, 3], "reported 2"]);
  });

  it("never separates writes that were signed together from their signatures", async () => {
    follow();
    const kinds = ["replace", "replace", "signatures"];
    const rowAt = (position: number) => ({ ...row(position), change: { kind: kinds[(position - 1) % 3] } });
    const rows = Array.from({ length: 2_500 }, (_, i) => rowAt(i + 1));
    logFrom = async ({ position }) => rows.slice(position, position + 1_000);
    wake();
    await settle();
    const pages = heard.filter((each) => Array.isArray(each)) as number[][];
    expect(pages.flat()).toEqual(rows.map(({ position }) => position));
    expect(pages.slice(0, -1).map((page) => (page.at(-1) ?? 0) % 3)).toEqual([0, 0]);
  });

  it("does not read any more after it was ended", async () => {
    follow();
    trouble = new StoreBusy("the database cannot be reached");
    grow(1);
    await settle();
    follower?.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("reloads everything when the log itself cannot be read", async () => {
    follow();
    trouble = new Error("a row is damaged");
    grow(1);
    await settle();
    expect(heard).toEqual(["lost", "reported 1"]);
  });

  it("does not read what the store reports, if it is next in the log", async () => {
    follow();
    trouble = new Error("nothing is read");
    wake(...added(1));
    expect(heard).toEqual([[1], "reported 1"]);
  });

  it("keeps nobody waiting for a store that does not answer, and says since when it is late", async () => {
    follow();
    const late = Promise.withResolvers<void>();
    answer = late.promise;
    grow(1);
    await settle(20);
    expect([heard, follower?.lateSince()]).toEqual([[], undefined]);
    await settle(40);
    expect(heard).toEqual(["reported 1"]);
    expect(follower?.lateSince()).toBeDefined();
    grow(1);
    await settle(60);
    expect(heard).toEqual(["reported 1", "reported 2"]);
    late.resolve();
    await settle();
    expect(heard).toEqual(["reported 1", "reported 2", [1, 2], "reported 1", "reported 2"]);
    expect(follower?.lateSince()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits as long again for each write that was announced during a read", async () => {
    follow();
    const first = Promise.withResolvers<void>();
    answer = first.promise;
    grow(1);
    await settle(30);
    wake();
    answer = new Promise(() => undefined);
    first.resolve();
    await settle(30);
    expect(heard).toEqual([[1], "reported 1"]);
    await settle(20);
    expect(heard).toEqual([[1], "reported 1", "reported 2"]);
  });

  describe("when the store has lost rows that were followed", () => {
    const followFour = async () => {
      follow();
      grow(4);
      await settle();
      heard.length = 0;
    };
    it.for([
      ["the log is shorter", 2],
      ["the same positions have other rows", 4],
      ["the log has grown past them", 9],
    ] as const)("says which, and continues at the end of the log: %s", async ([, end]) => {
      await followFour();
      [last, fork] = [end, 2];
      wake();
      await settle();
      const zones = new Set(["3.example", "4.example"]);
      expect(heard).toEqual([{ count: 2, zones, position: 4, end }, `reported 2`]);
      expect(said.join()).toContain("the database has lost changes");
      wake(...added(end + 1, end === 2 ? "a" : "b"));
      expect(heard.at(-2)).toEqual([end + 1]);
    });

    it("notices it at a write of its own at the next position, which does not follow on", async () => {
      await followFour();
      [last, fork] = [5, 2];
      wake(...added(5, "b"));
      await settle();
      expect(heard).toEqual([expect.objectContaining({ count: 2, position: 4, end: 5 }), "reported 2"]);
    });

    it("does not know which, if it shares nothing with the log any more", async () => {
      await followFour();
      [last, fork] = [3, 0];
      wake();
      await settle();
      expect(heard).toEqual([{ position: 4, end: 3 }, "reported 2"]);
    });

    it("tries again if the store is unavailable then", async () => {
      await followFour();
      [last, fork, trouble] = [3, 2, new StoreBusy("the database cannot be reached")];
      wake();
      await settle();
      trouble = undefined;
      await settle(1_000);
      expect(heard).toEqual(["reported 2", expect.objectContaining({ count: 2, end: 3 }), "reported 2"]);
    });
  });
});
