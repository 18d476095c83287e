import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/rig/long-run.ts";
import { createSharedMemory, type TransferMemory } from "./memory.ts";

function lab(most: number) {
  const memory = createSharedMemory(most);
  const ended: string[] = [];
  return { ended, open: (name: string, account: number) => memory.open(account, () => ended.push(name)) };
}

describe("the memory of transfers", () => {
  it("ends the newest transfer of the account that holds the most, and the others continue", () => {
    const { ended, open } = lab(100);
    const [old, newest, honest] = [open("old", 1), open("newest", 1), open("honest", 2)];
    expect([old.hold(40), newest.hold(10), honest.hold(45), honest.hold(49)]).toEqual([true, true, true, true]);
    expect(open("other", 3).hold(5)).toBe(true);
    expect(ended).toEqual(["newest"]);
    expect([newest.hold(11), old.hold(45), honest.hold(50)]).toEqual([false, true, true]);
  });

  it("allows one account half of it, whatever the others hold", () => {
    const { ended, open } = lab(100);
    const [first, second] = [open("first", 1), open("second", 1)];
    expect([first.hold(30), second.hold(21)]).toEqual([true, false]);
    expect(ended).toEqual(["second"]);
    expect([first.hold(50), first.hold(51)]).toEqual([true, false]);
  });

  it("does not end a transfer that is being stored: that would free nothing", () => {
    const { ended, open } = lab(100);
    const stored = open("stored", 1);
    stored.hold(50);
    stored.keep();
    expect(open("more", 1).hold(1)).toBe(false);
    expect(open("honest", 2).hold(50)).toBe(true);
    stored.close();
    expect(open("again", 1).hold(50)).toBe(true);
    expect(ended).toEqual(["more"]);
  });

  it("never holds more than allowed, and every zone of up to half that size completes eventually", () => {
    const zone = fc.record({ account: fc.nat(3), size: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(fc.array(zone, { minLength: 1, maxLength: 12 }), (zones) => {
        const memory = createSharedMemory(100);
        const all = zones.map((each) => ({ ...each, bytes: 0, held: undefined as TransferMemory | undefined }));
        const wait = (each: (typeof all)[number]) => Object.assign(each, { held: undefined, bytes: 0 });
        let left = all;
        for (let round = 0; left.length > 0; round++) {
          expect(round).toBeLessThan(50 * 12 * 2);
          for (const each of left) {
            each.held ??= memory.open(each.account, () => wait(each));
            each.bytes += 1;
            each.held.hold(each.bytes);
            expect(all.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(100);
          }
          for (const each of left.filter(({ bytes, size }) => bytes === size)) {
            each.held?.close();
            each.bytes = 0;
            left = left.filter((other) => other !== each);
          }
        }
      }),
      runs(30),
    );
  });
});
