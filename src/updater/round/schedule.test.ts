import { beforeEach, describe, expect, it } from "vitest";
import type { UpdaterConfig } from "../config/config.ts";
import type { ManagedRecord } from "./managed-records.ts";
import type { StoredAddress } from "./merge-state.ts";
import type { NameState } from "./name-state.ts";
import type { UpdateResult } from "./result.ts";
import { Schedule } from "./schedule.ts";

const hour = 3_600_000;
const interval = 30_000;
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
let stored: Map<string, StoredAddress>;
let schedule: Schedule;
beforeEach(() => {
  now = 1_800_000_000_000;
  kept = new Map();
  stored = new Map();
  schedule = open();
});

function open(among = targets): Schedule {
  const state = {
    get: (key: string) => stored.get(key),
    rateLimitedUntil: (key: string) => kept.get(key),
    setRateLimitedUntil: async (key: string, until: number) => void kept.set(key, until),
  };
  return new Schedule({ targets: among, interval }, { state, now: () => now, random: () => 0 });
}

const record = { key: "home A", target: "dns" } as ManagedRecord;
const asksFor = (retryAfter: number) =>
  schedule.noteOutcome({
    record,
    outcome: { kind: "unknown", fault: { kind: "later", because: "busy", todo: "wait", retryAfter } },
  } as UpdateResult);
const goesWell = () =>
  schedule.noteOutcome({ record, outcome: { kind: "done", recordId: "1", ttl: 60 } } as UpdateResult);
const limitedUntil = () => schedule.waitForReading("dns")?.until;
const untilForWrite = (target = "dns") => {
  const admission = schedule.admit({ ...record, target }, () => []);
  return admission.kind === "postponed" ? admission.wait.until : undefined;
};

it("nothing is sent to a service for as long as it asked, and no longer", async () => {
  await asksFor(3 * hour);
  expect([limitedUntil(), schedule.waitForReading("other")]).toEqual([now + 3 * hour, undefined]);
  expect(schedule.longRateLimits(["dns", "other"])).toEqual(new Map([["dns", now + 3 * hour]]));
  now += 3 * hour;
  expect(limitedUntil()).toBeUndefined();
});

describe("the reason to wait is the one that lasts longest", () => {
  const reason = () => schedule.notBefore(record)?.because;
  const quotaUsedUpFor = (seconds: number) =>
    schedule.answered("dns", { "ratelimit-limit": "100", "ratelimit-remaining": "0", "ratelimit-reset": `${seconds}` });
  const fails = () =>
    schedule.noteOutcome({
      record,
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
  const isPlanned = () => (schedule.notBefore(record)?.until ?? 0) <= now;
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
    expect(limitedUntil()).toBeUndefined();
  });

  it("does not end the hold if the service asks again meanwhile, or if another request succeeds", async () => {
    await goesWell();
    expect(limitedUntil()).toBe(now + 3 * hour);
    schedule.allowOneTry();
    untilForWrite();
    await asksFor(5 * hour);
    await goesWell();
    expect(limitedUntil()).toBe(now + 5 * hour);
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
    schedule.noteOutcome({
      record,
      outcome: {
        kind: "refused",
        fault: { kind: "refused", because: "abuse", todo: "ask", retryAfter: 24 * hour, onlyName: true },
      },
    } as UpdateResult);
  const untilFor = (key: string, target = "dns") => schedule.notBefore({ key, target } as ManagedRecord)?.until;

  it("does not hold up other names, and survives a restart", async () => {
    await blocked();
    expect([untilFor("home A"), untilFor("other A"), limitedUntil()]).toEqual([now + 24 * hour, undefined, undefined]);
    now += 2 * hour;
    schedule = open();
    expect(untilFor("home A")).toBe(now + 22 * hour);
  });

  it("is over when the credentials change", async () => {
    const withAccount = (account: string) =>
      new Map([["dns", { ...target("https://dns.example/a", "t1"), account }]]) as unknown as UpdaterConfig["targets"];
    schedule = open(withAccount("one"));
    await blocked();
    expect(untilFor("home A")).toBe(now + 24 * hour);
    schedule = open(withAccount("two"));
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

describe("when a name is planned again, if its source reports nothing new", () => {
  type Case = {
    readonly state: NameState["kind"];
    readonly plan?: object;
    readonly rules?: object;
    /** Milliseconds ago. */
    readonly storedBefore?: number;
    readonly verifiedBefore?: number;
    /** The service asked for this many milliseconds. */
    readonly retryAfter?: number;
  };
  const verifies = { rules: { verify: hour } };

  it.each<[string, Case, number | undefined]>([
    ["unread: never", { state: "unread", ...verifies }, undefined],
    ["idle: never", { state: "idle", ...verifies }, undefined],
    ["queued: never", { state: "queued", ...verifies }, undefined],
    ["writing: never", { state: "writing", ...verifies }, undefined],
    ["waiting for calm: then", { state: "waiting", plan: { kind: "wait", because: "hold-down", until: 5_000 } }, 5_000],
    [
      "waiting, too many changes: then",
      { state: "waiting", plan: { kind: "wait", because: "cap", until: 9_000 } },
      9_000,
    ],
    [
      "waiting for calm: a Retry-After does not matter yet",
      { state: "waiting", plan: { kind: "wait", because: "hold-down", until: 5_000 }, retryAfter: hour },
      5_000,
    ],
    [
      "waiting for the service: as long as it asks now, whatever was planned",
      { state: "waiting", plan: { kind: "wait", because: "retry-after", until: 5_000 }, retryAfter: hour },
      hour,
    ],
    [
      "waiting for a service that no longer asks: now",
      { state: "waiting", plan: { kind: "wait", because: "retry-after", until: 5_000 } },
      0,
    ],
    ["refused: when the service may be asked", { state: "refused", ...verifies, retryAfter: 60_000 }, 60_000],
    ["in doubt: when the service may be asked", { state: "in-doubt", ...verifies, retryAfter: 60_000 }, 60_000],
    ["refused, nothing to wait for: with the next check", { state: "refused", ...verifies, storedBefore: 0 }, hour],
    ["in doubt, nothing to wait for, no checks: never", { state: "in-doubt" }, undefined],
    ["up to date, no checks: never", { state: "up-to-date" }, undefined],
    ["up to date, never stored: a check after its interval", { state: "up-to-date", ...verifies }, hour],
    [
      "up to date: a check, counted from the write",
      { state: "up-to-date", ...verifies, storedBefore: 60_000 },
      hour - 60_000,
    ],
    [
      "up to date: a check, counted from the last one",
      { state: "up-to-date", ...verifies, storedBefore: 5 * hour, verifiedBefore: 1_000 },
      hour - 1_000,
    ],
    [
      "up to date, missed while asleep: in the past",
      { state: "up-to-date", ...verifies, verifiedBefore: 2 * hour },
      -hour,
    ],
    [
      "up to date, compared with the record: with the interval of the config",
      { state: "up-to-date", rules: { compare: "record", verify: hour }, verifiedBefore: 10_000 },
      interval - 10_000,
    ],
  ])("%s", async (_, { state, plan, rules = {}, storedBefore, verifiedBefore, retryAfter }, expected) => {
    const name = { ...record, rules } as ManagedRecord;
    if (storedBefore !== undefined)
      stored.set(name.key, { address: "192.0.2.1", storedAt: new Date(now - storedBefore).toISOString() });
    if (verifiedBefore !== undefined) schedule.memory.verified(name.key, now - verifiedBefore);
    if (retryAfter !== undefined) await asksFor(retryAfter);
    const until = plan && "until" in plan ? { until: now + Number(plan.until) } : {};
    const latest = { plan: { kind: "nothing", ...plan, ...until } };
    const due = schedule.dueAt(name, { kind: state, latest } as unknown as NameState);
    expect(due === undefined ? undefined : due - now).toBe(expected);
  });
});
