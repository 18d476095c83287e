import { expect, it } from "vitest";
import type { UpdateResult } from "../round/result.ts";
import { describeChoice, summarise } from "./describe-round.ts";

const ended = (kind: "refused" | "unknown", afterWrite: boolean) =>
  ({
    record: { key: "home", displayName: "home A" },
    choice: { kind: "chosen", address: { text: "81.2.69.1" } },
    plan: { kind: "replace", address: { text: "81.2.69.1" } },
    outcome: { kind, fault: { kind: "later", because: "the reply has no valid signature", todo: "wait", afterWrite } },
  }) as unknown as UpdateResult;

it.each([
  ["another address than the stored one", "81.2.69.2", "the new address is 81.2.69.1, but the last attempt failed"],
  ["the stored address, which is compared", "81.2.69.1", "the address is 81.2.69.1, but the last attempt failed"],
])("a wait with %s says until when, and why", (_, stored, because) => {
  const plan = { kind: "wait", address: { text: "81.2.69.1" }, until: 0, because: "back-off" };
  const waiting = { ...ended("refused", false), outcome: undefined, plan, stored } as unknown as UpdateResult;
  expect(summarise(waiting, true)).toEqual({ kind: "waiting", what: "waits until 1970-01-01 00:00:00 UTC", because });
});

it.each([
  ["a refused write", ended("refused", false), "not replaced"],
  ["a write with an unknown outcome", ended("unknown", false), "possibly replaced"],
  ["a write whose last step failed", ended("unknown", true), "only partly replaced"],
])("%s is reported as such", (_, result, what) => {
  expect(summarise(result, true)).toMatchObject({ kind: "failed", what });
});

it("an IPv4 address that is not the first one listed says why, with public: require", () => {
  const considered = [
    { text: "10.0.0.1", verdict: "private" },
    { text: "81.2.69.1", verdict: "taken" },
  ];
  const record = { displayName: "home A", family: "ipv4", policy: { public: "require" }, spec: {} };
  const update = { ...ended("refused", false), outcome: undefined, record, considered, device: "wan0", passedOver: [] };
  expect(summarise(update as unknown as UpdateResult, false).because).toBe(
    "it is the address of wan0, the first public one: 10.0.0.1 is private, but only public ones are allowed; no address was stored yet",
  );
  expect(describeChoice(update as unknown as UpdateResult).because).toMatch(
    /^\S+ of wan0 would be used, the first public one: 10\.0\.0\.1 is private, but only public ones are allowed$/,
  );
});
