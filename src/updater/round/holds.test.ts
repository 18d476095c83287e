import { beforeEach, describe, expect, it } from "vitest";
import { createHolds, type Holds } from "./holds.ts";

const hour = 3_600_000;
let now: number;
let kept: Map<string, number>;
let holds: Holds;
beforeEach(() => {
  now = 1_800_000_000_000;
  kept = new Map();
  const setHold = async (key: string, until: number) => void kept.set(key, until);
  holds = createHolds({ hold: (key) => kept.get(key), setHold }, () => now);
});

it("a service is left alone as long as it asked for, and no longer", async () => {
  await holds.set("dns", now + 3 * hour);
  expect([holds.until("dns"), holds.until("other")]).toEqual([now + 3 * hour, undefined]);
  now += 3 * hour;
  expect(holds.until("dns")).toBeUndefined();
});

describe("a person who wants to know now", () => {
  const held = () => holds.untilForRequest("dns");
  beforeEach(() => holds.set("dns", now + 3 * hour));

  it("gets one request, and that is all", () => {
    expect(held()).toBe(now + 3 * hour);
    holds.allowOneTry();
    expect([holds.isTryAllowed("dns"), held(), held(), holds.isTryAllowed("dns")]).toEqual([
      true,
      undefined,
      now + 3 * hour,
      false,
    ]);
    holds.allowOneTry();
    expect(held()).toBeUndefined();
  });

  it("gets it for what is known soon after, as from a slow firewall, and not for what comes up later", () => {
    const until = now + 3 * hour;
    holds.allowOneTry();
    now += 59_999;
    expect(holds.isTryAllowed("dns")).toBe(true);
    now += 1;
    expect([holds.isTryAllowed("dns"), held()]).toEqual([false, until]);
    // A clock that was put back.
    now -= 120_000;
    expect(holds.isTryAllowed("dns")).toBe(false);
  });

  it("has ended the hold when that request went well", () => {
    holds.allowOneTry();
    held();
    holds.succeeded("dns");
    expect(holds.until("dns")).toBeUndefined();
  });

  it("has not when the service asks anew meanwhile, nor by what went well without", async () => {
    holds.succeeded("dns");
    expect(holds.until("dns")).toBe(now + 3 * hour);
    holds.allowOneTry();
    held();
    await holds.set("dns", now + 5 * hour);
    holds.succeeded("dns");
    expect(holds.until("dns")).toBe(now + 5 * hour);
  });
});
