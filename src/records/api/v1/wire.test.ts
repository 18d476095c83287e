import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paginationToWire, primaryServerPlace, timeText } from "./wire.ts";

describe("a time on the wire", () => {
  it("is in Go's format", () => {
    expect(timeText(Date.UTC(2021, 1, 5, 12, 57, 21, 941))).toBe("2021-02-05 12:57:21.941 +0000 UTC");
    expect(timeText(Date.UTC(2026, 10, 15))).toBe("2026-11-15 00:00:00.000 +0000 UTC");
  });
});

describe("pages", () => {
  it("have neighbours between 1 and the last", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 99 }),
        fc.integer({ min: 1, max: 99 }),
        fc.nat(9999),
        (page, perPage, total) => {
          const wire = paginationToWire(page, perPage, total);
          expect(wire.last_page).toBe(Math.max(1, Math.ceil(total / perPage)));
          expect(wire.next_page).toBeGreaterThanOrEqual(1);
          expect(wire.next_page).toBeLessThanOrEqual(wire.last_page);
          expect(wire.previous_page).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });
});

describe("the id of a primary server", () => {
  it.each([
    ["zone-server", { zone: "zone", server: "server" }],
    ["zone-a-b", { zone: "zone", server: "a-b" }],
    ["none", { zone: "", server: "none" }],
    ["", { zone: "", server: "" }],
  ])("%j", (id, place) => {
    expect(primaryServerPlace(id)).toEqual(place);
  });
});
