import { afterAll, describe, expect, it, vi } from "vitest";
import { dayOf, endOfDay, lastMoment } from "./days.ts";

describe("the last day of a user or a token", () => {
  afterAll(() => void vi.unstubAllEnvs());

  it.for([
    ["America/Los_Angeles", "2027-03-02T07:59:59.000Z"],
    ["Pacific/Auckland", "2027-03-01T10:59:59.000Z"],
  ] as const)("lasts until its end in the time zone of the administrator: %s", ([zone, end]) => {
    vi.stubEnv("TZ", zone);
    expect(new Date(endOfDay("2027-03-01")).toISOString()).toBe(end);
    expect(dayOf(new Date(end))).toBe("2027-03-01");
  });

  it("is the day before if the end is the beginning of a day", () => {
    vi.stubEnv("TZ", "UTC");
    expect(dayOf(lastMoment("2028-01-01T00:00:00Z"))).toBe("2027-12-31");
  });

  it("is unknown if the text is not a day", () => expect(endOfDay("")).toBeNaN());
});
