import { describe, expect, it } from "vitest";
import { KeyedSemaphore, type Permit } from "./semaphore.ts";

const token = { name: "token 1", most: 2 };
const other = { name: "token 2", most: 2 };
const account = { name: "account 1", most: 3 };
const release = (permit: Permit) => permit.kind === "permit" && permit.release();

describe("a semaphore", () => {
  it("refuses a holder beyond their limit and leaves room for others", () => {
    const permits = new KeyedSemaphore(10);
    expect([1, 2, 3].map(() => permits.tryAcquire([token]).kind)).toEqual(["permit", "permit", "full"]);
    expect(permits.tryAcquire([token])).toEqual({ kind: "full", holder: token });
    expect(permits.tryAcquire([other]).kind).toBe("permit");
    expect(permits.open).toBe(3);
  });

  it("counts every holder of a stream, and a refusal counts for none", () => {
    const permits = new KeyedSemaphore(10);
    for (const each of [token, token, other]) permits.tryAcquire([each, account]);
    expect(permits.tryAcquire([other, account])).toEqual({ kind: "full", holder: account });
    expect(permits.tryAcquire([other]).kind).toBe("permit");
  });

  it("has a limit for all holders together", () => {
    const permits = new KeyedSemaphore(1);
    permits.tryAcquire([token]);
    expect(permits.tryAcquire([other])).toEqual({ kind: "full" });
  });

  it("says for whom a permit is free", () => {
    const permits = new KeyedSemaphore(3);
    for (let i = 0; i < 2; i++) permits.tryAcquire([token]);
    expect([token, other].map((each) => permits.isFreeFor([each]))).toEqual([false, true]);
    const last = permits.tryAcquire([other]);
    expect(permits.isFreeFor([account])).toBe(false);
    release(last);
    expect(permits.isFreeFor([account])).toBe(true);
  });

  it("gives a released permit to the next holder, and ignores a second release", () => {
    const permits = new KeyedSemaphore(2);
    const [first] = [permits.tryAcquire([token]), permits.tryAcquire([token])];
    release(first);
    release(first);
    expect([permits.open, permits.tryAcquire([token]).kind, permits.tryAcquire([token]).kind]).toEqual([
      1,
      "permit",
      "full",
    ]);
  });

  it("lets those that wait take turns, holder by holder, in each within its limit", () => {
    const permits = new KeyedSemaphore(1);
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const add = (...names: readonly string[]) =>
      permits.enqueue(
        names.map((_, i) => ({ name: names.slice(0, i + 1).join("/"), most: 1 })),
        (end) => {
          started.push(names.join("/"));
          ends.push(end);
        },
      );
    for (const names of [["x"], ["1", "a"], ["1", "a"], ["1", "b"], ["2", "c"], ["2", "c"]]) add(...names);
    for (const end of ends) end();
    expect(started).toEqual(["x", "1/a", "2/c", "1/b", "2/c", "1/a"]);
  });

  it("starts others while one holder waits for its own permit", () => {
    const permits = new KeyedSemaphore(10);
    const started: string[] = [];
    const ends: (() => void)[] = [];
    for (const holder of [token, token, token, other])
      permits.enqueue([holder], (end) => {
        started.push(holder.name);
        ends.push(end);
      });
    expect([started, permits.waitingFor(token)]).toEqual([["token 1", "token 1", "token 2"], 1]);
    ends[0]?.();
    expect([started.at(-1), permits.waitingFor(token)]).toEqual(["token 1", 0]);
  });

  it("forgets who stopped waiting", async () => {
    const permits = new KeyedSemaphore(1);
    const first = await permits.acquire([token], new AbortController().signal);
    const gone = new AbortController();
    const waiting = permits.acquire([token], gone.signal);
    gone.abort(new Error("hung up"));
    await expect(waiting).rejects.toThrow("hung up");
    await expect(permits.acquire([token], gone.signal)).rejects.toThrow("hung up");
    first();
    expect([permits.open, permits.waitingFor(token)]).toEqual([0, 0]);
  });

  it("starts any number that end immediately", () => {
    const permits = new KeyedSemaphore(1);
    const first = permits.tryAcquire([token]);
    let started = 0;
    for (let i = 0; i < 20_000; i++)
      permits.enqueue([other], (end) => {
        started += 1;
        end();
      });
    release(first);
    expect([started, permits.open]).toEqual([20_000, 0]);
  });
});
