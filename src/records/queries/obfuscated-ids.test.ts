import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { obfuscateIds } from "./obfuscated-ids.ts";

const shownIds = obfuscateIds("secret", "token 1");
const numbers = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("obfuscated ids", () => {
  it("can be inverted, and stays in the range of numbers that JSON and clients can hold", () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const shown = shownIds.show(number);
        expect(shownIds.read(shown)).toBe(number);
        expect(shown).toBeGreaterThanOrEqual(0);
        expect(shown).toBeLessThan(10 ** 15);
      }),
    );
  });

  it("hides gaps: consecutive numbers are spread anywhere", () => {
    const shown = Array.from({ length: 200 }, (_, i) => shownIds.show(i));
    const steps = shown.slice(1).map((number, i) => Math.abs(number - (shown[i] ?? 0)));
    expect(Math.min(...steps)).toBeGreaterThan(2 ** 24);
    expect(new Set(shown).size).toBe(200);
  });

  it("is different for each holder and each database", () => {
    expect(obfuscateIds("secret", "token 2").show(7)).not.toBe(shownIds.show(7));
    expect(obfuscateIds("other", "token 1").show(7)).not.toBe(shownIds.show(7));
  });

  it("leaves other numbers unchanged", () => expect(shownIds.read(2 ** 48)).toBe(2 ** 48));
});
