import fc from "fast-check";
import { expect, it } from "vitest";
import { utcText } from "./utc-text.ts";

it("agrees with Date for every moment in years with four digits, even before 1970", () => {
  const [first, last] = [Date.UTC(1900, 0, 1), 253_402_300_799_999];
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), (instant) => {
      const { day, time, milliseconds } = utcText(instant);
      expect(`${day}T${time}.${milliseconds}Z`).toBe(new Date(instant).toISOString());
    }),
  );
});
