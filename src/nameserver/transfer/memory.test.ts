import { describe, expect, it } from "vitest";
import { createSharedMemory } from "./memory.ts";

function lab(most: number) {
  const memory = createSharedMemory(most);
  const ended: string[] = [];
  return { ended, open: (name: string, account: number) => memory.open(account, () => ended.push(name)) };
}

describe("the memory of transfers", () => {
  it("ends the largest transfer of the account that holds the most, and the others go on", () => {
    const { ended, open } = lab(100);
    const [small, large, honest] = [open("small", 1), open("large", 1), open("honest", 2)];
    small.hold(10);
    large.hold(40);
    honest.hold(45);
    expect(ended).toEqual([]);
    honest.hold(50);
    expect(ended).toEqual([]);
    const other = open("other", 3);
    other.hold(5);
    expect(ended).toEqual(["large"]);
    expect(() => large.hold(41)).toThrow("too much memory");
    small.hold(20);
    honest.hold(50);
  });

  it("gives one account half of it, whatever the others hold", () => {
    const { ended, open } = lab(100);
    const [first, second] = [open("first", 1), open("second", 1)];
    first.hold(30);
    expect(() => second.hold(31)).toThrow("too much memory");
    expect(ended).toEqual(["second"]);
    expect(() => first.hold(51)).toThrow("too much memory");
  });

  it("does not end what is being stored: that would free nothing", () => {
    const { ended, open } = lab(100);
    const stored = open("stored", 1);
    stored.hold(50);
    stored.keep();
    const more = open("more", 1);
    expect(() => more.hold(1)).toThrow("too much memory");
    const honest = open("honest", 2);
    honest.hold(50);
    expect(ended).toEqual(["more"]);
    stored.close();
    open("again", 1).hold(50);
    expect(ended).toEqual(["more"]);
  });
});
