import { afterEach, describe, expect, it, vi } from "vitest";
import { StoreBusy } from "../process/database/store-busy.ts";
import { createLog } from "../process/log.ts";
import type { LoggedChange } from "../records/model.ts";
import type { ChangeListener, RecordStore } from "../records/store/port.ts";
import { followLog } from "./follow-log.ts";

const row = (position: number): LoggedChange =>
  ({ position, zone: 1, zoneName: "example.org", serial: position }) as unknown as LoggedChange;

describe("following the log", () => {
  let wake: ChangeListener = () => undefined;
  let trouble: Error | undefined;
  let last = 0;
  const heard: unknown[] = [];
  const said: string[] = [];
  const store = {
    logAfter: async (after: number) => {
      if (trouble) throw trouble;
      return Array.from({ length: last - after }, (_, i) => row(after + 1 + i));
    },
    onChange: (listener: ChangeListener) => {
      wake = listener;
      return () => {
        wake = () => undefined;
      };
    },
  } as unknown as RecordStore;
  let stop = () => {};

  const follow = () => {
    vi.useFakeTimers();
    [trouble, last] = [undefined, 0];
    heard.length = 0;
    said.length = 0;
    stop = followLog(store, 0, createLog({ format: "json", write: (line) => said.push(line) }), {
      rows: (rows) => heard.push(rows.map(({ position }) => position)),
      lost: () => heard.push("lost"),
      written: () => undefined,
      reported: (number) => heard.push(`reported ${number}`),
    });
  };
  const grow = (rows: number) => {
    last += rows;
    wake();
  };
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  afterEach(() => {
    stop();
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
    wake([row(3)]);
    await settle();
    expect(heard).toEqual(["reported 1", [1, 2, 3], "reported 2"]);
  });

  it("does not read any more after it was ended", async () => {
    follow();
    trouble = new StoreBusy("the database cannot be reached");
    grow(1);
    await settle();
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("reloads everything when the log itself cannot be read", async () => {
    follow();
    trouble = new Error("a row is damaged");
    grow(1);
    await settle();
    expect(heard).toEqual(["lost", "reported 1"]);
  });
});
