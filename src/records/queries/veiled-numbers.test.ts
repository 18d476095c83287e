import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVeil } from "./veiled-numbers.ts";

const veil = createVeil("secret", "token 1");
const numbers = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("a veil", () => {
  it("can be inverted, and stays in the range of numbers that JSON and clients can hold", () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const shown = veil.show(number);
        expect(veil.read(shown)).toBe(number);
        expect(shown).toBeGreaterThanOrEqual(0);
        expect(shown).toBeLessThan(10 ** 15);
      }),
    );
  });

  it("hides gaps: consecutive numbers are spread anywhere", () => {
    const shown = Array.from({ length: 200 }, (_, i) => veil.show(i));
    const steps = shown.slice(1).map((number, i) => Math.abs(number - (shown[i] ?? 0)));
    expect(Math.min(...steps)).toBeGreaterThan(2 ** 24);
    expect(new Set(shown).size).toBe(200);
  });

  it("is different for each holder and each database", () => {
    expect(createVeil("secret", "token 2").show(7)).not.toBe(veil.show(7));
    expect(createVeil("other", "token 1").show(7)).not.toBe(veil.show(7));
  });

  it("leaves other numbers unchanged", () => expect(veil.read(2 ** 48)).toBe(2 ** 48));
});
