import { beforeEach, describe, expect, it } from "vitest";
import type { UpdaterConfig } from "../config/config.ts";
import type { UpdateResult } from "./result.ts";
import { Schedule } from "./schedule.ts";
import type { Subject } from "./subjects.ts";

const hour = 3_600_000;
const target = (url: string, token: string) => ({ url: new URL(url), token: () => token });
const targets = new Map(
  Object.entries({
    dns: target("https://dns.example/a", "t1"),
    shared: target("https://dns.example/b", "t1"),
    other: target("https://dns.example/c", "t2"),
  }),
) as unknown as UpdaterConfig["targets"];

let now: number;
let kept: Map<string, number>;
let schedule: Schedule;
beforeEach(() => {
  now = 1_800_000_000_000;
  kept = new Map();
  const setHold = async (key: string, until: number) => void kept.set(key, until);
  const state = { hold: (key: string) => kept.get(key), setHold };
  schedule = new Schedule({ targets }, { state, now: () => now, random: () => 0 });
});

const subject = { key: "home A", target: "dns" } as Subject;
const asksFor = (retryAfter: number) =>
  schedule.ended({
    subject,
    outcome: { kind: "unknown", fault: { kind: "later", because: "busy", todo: "wait", retryAfter } },
  } as UpdateResult);
const goesWell = () => schedule.ended({ subject, outcome: { kind: "done", recordId: "1", ttl: 60 } } as UpdateResult);
const held = () => schedule.waitForReading("dns")?.until;
const untilForWrite = (target = "dns") => {
  const admission = schedule.admit({ ...subject, target }, () => []);
  return admission.kind === "hold" ? admission.wait.until : undefined;
};

it("nothing is sent to a service for as long as it asked, and no longer", async () => {
  await asksFor(3 * hour);
  expect([held(), schedule.waitForReading("other")]).toEqual([now + 3 * hour, undefined]);
  expect(schedule.longHolds(["dns", "other"])).toEqual(new Map([["dns", now + 3 * hour]]));
  now += 3 * hour;
  expect(held()).toBeUndefined();
});

describe("the reason to wait is the one that lasts longest", () => {
  const reason = () => schedule.notBefore(subject)?.because;
  const quotaUsedUpFor = (seconds: number) =>
    schedule.answered("dns", { "ratelimit-limit": "100", "ratelimit-remaining": "0", "ratelimit-reset": `${seconds}` });
  const fails = () =>
    schedule.ended({
      subject,
      outcome: { kind: "unknown", fault: { kind: "later", because: "reset", todo: "wait" } },
    } as UpdateResult);

  it("a failure without a Retry-After is our own back-off", async () => {
    await fails();
    expect(reason()).toBe("back-off");
  });

  it("a Retry-After, until a quota that lasts longer", async () => {
    await asksFor(60_000);
    expect([reason(), schedule.waitForReading("dns")?.because]).toEqual(["retry-after", "retry-after"]);
    quotaUsedUpFor(600);
    expect([reason(), schedule.waitForReading("dns")?.because]).toEqual(["quota", "quota"]);
  });
});

describe("a person who asks for a check", () => {
  const isPlanned = () => (schedule.notBefore(subject)?.until ?? 0) <= now;
  beforeEach(() => asksFor(3 * hour));

  it("gets exactly one request", () => {
    expect(untilForWrite()).toBe(now + 3 * hour);
    schedule.allowOneTry();
    expect([isPlanned(), untilForWrite(), untilForWrite(), isPlanned()]).toEqual([
      true,
      undefined,
      now + 3 * hour,
      false,
    ]);
    schedule.allowOneTry();
    expect(untilForWrite()).toBeUndefined();
  });

  it("gets that request for a write planned soon after, as with a slow firewall, but not for a later one", () => {
    const until = now + 3 * hour;
    schedule.allowOneTry();
    now += 59_999;
    expect(isPlanned()).toBe(true);
    now += 1;
    expect([isPlanned(), untilForWrite()]).toEqual([false, until]);
    // The clock was set back.
    now -= 120_000;
    expect(isPlanned()).toBe(false);
  });

  it("ends the hold if that request succeeds", async () => {
    schedule.allowOneTry();
    untilForWrite();
    await goesWell();
    expect(held()).toBeUndefined();
  });

  it("does not end the hold if the service asks again meanwhile, or if another request succeeds", async () => {
    await goesWell();
    expect(held()).toBe(now + 3 * hour);
    schedule.allowOneTry();
    untilForWrite();
    await asksFor(5 * hour);
    await goesWell();
    expect(held()).toBe(now + 5 * hour);
  });
});

describe("a quota that is nearly used up", () => {
  const says = (remaining: number, reset: number) => ({
    "ratelimit-limit": "300",
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(reset),
  });

  it("is taken from the last answer, for all targets with that token", () => {
    schedule.answered("dns", says(0, 12));
    const untils = () => [...targets.keys()].map((each) => untilForWrite(each));
    expect(untils()).toEqual([now + 12_000, now + 12_000, undefined]);
    schedule.allowOneTry();
    expect(untils()).toEqual([now + 12_000, now + 12_000, undefined]);
    schedule.answered("shared", says(200, 12));
    expect(untils()).toEqual([undefined, undefined, undefined]);
  });

  it("never causes a longer wait than the service said, even if the clock is set back", () => {
    schedule.answered("dns", says(0, 600));
    const until = now + 600_000;
    now -= 1_000;
    expect(untilForWrite("dns")).toBe(until);
    now -= 12 * hour;
    expect(untilForWrite("dns")).toBeUndefined();
  });
});

describe("a wait for one name", () => {
  const blocked = () =>
    schedule.ended({
      subject,
      outcome: {
        kind: "refused",
        fault: { kind: "refused", because: "abuse", todo: "ask", retryAfter: 24 * hour, onlyName: true },
      },
    } as UpdateResult);
  const untilFor = (key: string, target = "dns") => schedule.notBefore({ key, target } as Subject)?.until;

  it("does not hold up other names, and survives a restart", async () => {
    await blocked();
    expect([untilFor("home A"), untilFor("other A"), held()]).toEqual([now + 24 * hour, undefined, undefined]);
    now += 2 * hour;
    const setHold = async () => undefined;
    const state = { hold: (key: string) => kept.get(key), setHold };
    schedule = new Schedule({ targets }, { state, now: () => now, random: () => 0 });
    expect(untilFor("home A")).toBe(now + 22 * hour);
  });

  it("is over when the credentials change", async () => {
    const withAccount = (account: string) =>
      new Map([["dns", { ...target("https://dns.example/a", "t1"), account }]]) as unknown as UpdaterConfig["targets"];
    const setHold = async (key: string, until: number) => void kept.set(key, until);
    const state = { hold: (key: string) => kept.get(key), setHold };
    const open = (account: string) =>
      new Schedule({ targets: withAccount(account) }, { state, now: () => now, random: () => 0 });
    schedule = open("one");
    await blocked();
    expect(untilFor("home A")).toBe(now + 24 * hour);
    schedule = open("two");
    expect(untilFor("home A")).toBeUndefined();
  });

  it("ends for exactly one try when a person asks for a check", async () => {
    await blocked();
    schedule.allowOneTry();
    expect((untilFor("home A") ?? 0) <= now).toBe(true);
    await blocked();
    expect(untilFor("home A")).toBe(now + 24 * hour);
  });
});
