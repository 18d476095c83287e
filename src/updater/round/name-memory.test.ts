import { describe, expect, it } from "vitest";
import { NameMemory } from "./name-memory.ts";

const hour = 3_600_000;
const start = Date.parse("2026-11-15T12:00:00Z");

describe("what a process remembers of a name", () => {
  it("includes since when its address is the same, without a break", () => {
    const memory = new NameMemory();
    const since = (address: string | undefined, at: number) => {
      memory.saw("a", address, at);
      return memory.steadySince("a");
    };
    expect(since("9.9.9.9", 1)).toBe(1);
    expect(since("9.9.9.9", 2)).toBe(1);
    expect(since("9.9.9.8", 3)).toBe(3);
    expect(since(undefined, 4)).toBeUndefined();
    expect(since("9.9.9.8", 5)).toBe(5);
    expect(memory.steadySince("b")).toBeUndefined();
  });

  it("includes its changes within the last hour, oldest first", () => {
    const memory = new NameMemory();
    for (const at of [start, start + 1, start + hour]) memory.changed("a", at);
    expect(memory.changes("a")).toEqual([start + 1, start + hour]);
    expect(memory.changes("b")).toEqual([]);
  });

  it("does not include changes in the future, as after the clock was set back", () => {
    const memory = new NameMemory();
    for (const at of [start + 5, start]) memory.changed("a", at);
    expect(memory.changes("a")).toEqual([start]);
  });

  it("includes at most as many changes as changesPerHour can count, the latest ones", () => {
    const memory = new NameMemory();
    for (let i = 0; i < 3_601; i++) memory.changed("a", start + i);
    expect(memory.changes("a")).toHaveLength(3_600);
    expect(memory.changes("a").at(-1)).toBe(start + 3_600);
  });

  it("includes when its record was last seen to be correct", () => {
    const memory = new NameMemory();
    expect(memory.verifiedAt("a")).toBeUndefined();
    memory.requestVerify("a");
    expect([memory.isCheckRequested("a"), memory.isCheckRequested("b")]).toEqual([true, false]);
    memory.verified("a", start);
    expect([memory.verifiedAt("a"), memory.isCheckRequested("a")]).toEqual([start, false]);
  });
});
