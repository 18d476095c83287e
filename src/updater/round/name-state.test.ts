import { describe, expect, it, test } from "vitest";
import { parseIpv4 } from "../../core/addresses/address.ts";
import type { NoUpdate, UpdatePlan } from "../../core/updates/plan-update.ts";
import type { TargetFault } from "../targets/target.ts";
import { type NameAction, type NameEvent, type NameState, nextState } from "./name-state.ts";
import type { PlannedUpdate } from "./plan.ts";
import type { UpdateResult } from "./result.ts";

const until = 1_800_000_000_000;
const address = (text: string) => parseIpv4(text) as NonNullable<ReturnType<typeof parseIpv4>>;
const update = (plan: UpdatePlan) => ({ plan }) as PlannedUpdate;
const acting = (kind: "replace" | "compare", text: string) => update({ kind, address: address(text) }) as never;
const because = (reason: NoUpdate) => update({ kind: "nothing", because: reason });
const backOff = { until, because: "back-off" } as const;
const wait = update({ kind: "wait", ...backOff, address: address("9.9.9.1") });
const result = (outcome: UpdateResult["outcome"]) => ({ plan: {}, outcome }) as UpdateResult;
const fault = { kind: "later", because: "busy", todo: "wait" } as const;

const resting = ["unread", "idle", "up-to-date", "waiting", "refused", "in-doubt"] as const;
const states = {
  ...Object.fromEntries(resting.map((kind) => [kind, { kind, latest: because("unknown") }])),
  queued: { kind: "queued", latest: acting("replace", "9.9.9.1") },
  writing: { kind: "writing", latest: acting("replace", "9.9.9.1"), outdated: false },
  "writing, outdated": { kind: "writing", latest: acting("replace", "9.9.9.1"), outdated: true },
} as unknown as Readonly<Record<From, NameState>>;
type From = (typeof resting)[number] | "queued" | "writing" | "writing, outdated";

const events = {
  "planned: replace": { kind: "planned", update: acting("replace", "9.9.9.1") },
  "planned: compare": { kind: "planned", update: acting("compare", "9.9.9.1") },
  "planned: another address": { kind: "planned", update: acting("replace", "9.9.9.2") },
  "planned: nothing, same as stored": { kind: "planned", update: because("same-as-stored") },
  "planned: nothing, no address": { kind: "planned", update: because("no-address") },
  "planned: nothing, not master": { kind: "planned", update: because("not-master") },
  "planned: nothing, not publishable": { kind: "planned", update: because("not-publishable") },
  "planned: nothing, source unreadable": { kind: "planned", update: because("unknown") },
  "planned: wait": { kind: "planned", update: wait },
  dequeued: { kind: "dequeued" },
  held: { kind: "postponed", wait: backOff },
  stopped: { kind: "stopped" },
  apart: { kind: "write-alone" },
  "ended: done": { kind: "ended", result: result({ kind: "done", recordId: "1", ttl: 60 }) },
  "ended: same": { kind: "ended", result: result({ kind: "same" }) },
  "ended: refused": { kind: "ended", result: result({ kind: "refused", fault }) },
  "ended: unknown": { kind: "ended", result: result({ kind: "unknown", fault }) },
} as const satisfies Record<string, NameEvent>;
type EventName = keyof typeof events;

/** All transitions. Anything that is not in the table leaves the state unchanged. */
const table: readonly (readonly [from: From, event: EventName, to: From, action?: NameAction])[] = [
  ...resting.flatMap((from) => [
    [from, "planned: replace", "queued", "enqueue"] as const,
    [from, "planned: compare", "queued", "enqueue"] as const,
    [from, "planned: another address", "queued", "enqueue"] as const,
    [from, "planned: nothing, same as stored", "up-to-date"] as const,
    [from, "planned: nothing, no address", "idle"] as const,
    [from, "planned: nothing, not master", "idle"] as const,
    [from, "planned: nothing, not publishable", "idle"] as const,
    [from, "planned: nothing, source unreadable", "idle"] as const,
    [from, "planned: wait", "waiting"] as const,
  ]),
  // The latest plan wins, and keeps its place in the queue. A source that cannot be read changes nothing.
  ["queued", "planned: replace", "queued"],
  ["queued", "planned: compare", "queued"],
  ["queued", "planned: another address", "queued"],
  ["queued", "planned: nothing, same as stored", "up-to-date"],
  ["queued", "planned: nothing, no address", "idle"],
  ["queued", "planned: nothing, not master", "idle"],
  ["queued", "planned: nothing, not publishable", "idle"],
  ["queued", "planned: nothing, source unreadable", "queued"],
  ["queued", "planned: wait", "waiting"],
  ["queued", "dequeued", "writing"],
  ["queued", "held", "waiting"],
  ["queued", "stopped", "idle"],
  // A write under way ends first.
  ["writing", "planned: replace", "writing"],
  ["writing", "planned: compare", "writing"],
  ["writing", "planned: another address", "writing, outdated"],
  ["writing", "planned: nothing, same as stored", "writing, outdated"],
  ["writing", "planned: nothing, no address", "writing, outdated"],
  ["writing", "planned: nothing, not master", "writing, outdated"],
  ["writing", "planned: nothing, not publishable", "writing, outdated"],
  ["writing", "planned: nothing, source unreadable", "writing"],
  ["writing", "planned: wait", "writing, outdated"],
  ["writing", "ended: done", "up-to-date"],
  ["writing", "ended: same", "up-to-date"],
  ["writing", "ended: refused", "refused"],
  ["writing", "ended: unknown", "in-doubt"],
  ["writing", "apart", "queued", "enqueue"],
  // The address came back while the other one was planned: the write is no longer outdated.
  ["writing, outdated", "planned: replace", "writing"],
  ["writing, outdated", "planned: compare", "writing"],
  ["writing, outdated", "planned: another address", "writing, outdated"],
  ["writing, outdated", "planned: nothing, same as stored", "writing, outdated"],
  ["writing, outdated", "planned: nothing, no address", "writing, outdated"],
  ["writing, outdated", "planned: nothing, not master", "writing, outdated"],
  ["writing, outdated", "planned: nothing, not publishable", "writing, outdated"],
  ["writing, outdated", "planned: nothing, source unreadable", "writing, outdated"],
  ["writing, outdated", "planned: wait", "writing, outdated"],
  ["writing, outdated", "ended: done", "up-to-date", "plan-again"],
  ["writing, outdated", "ended: same", "up-to-date", "plan-again"],
  ["writing, outdated", "ended: refused", "refused", "plan-again"],
  ["writing, outdated", "ended: unknown", "in-doubt", "plan-again"],
  ["writing, outdated", "apart", "idle", "plan-again"],
];

const nameOf = (state: NameState) => (state.kind === "writing" && state.outdated ? "writing, outdated" : state.kind);

for (const [from, event, to, action] of table) {
  test(`${from} × ${event} → ${to}${action ? `, ${action}` : ""}`, () => {
    const next = nextState(states[from], events[event]);
    expect([nameOf(next.state), next.action]).toEqual([to, action]);
  });
}

it("anything that is not in the table leaves the state unchanged", () => {
  const inTable = new Set(table.map(([from, event]) => `${from} × ${event}`));
  for (const from of Object.keys(states) as From[]) {
    for (const event of Object.keys(events) as EventName[]) {
      if (inTable.has(`${from} × ${event}`)) continue;
      expect(nextState(states[from], events[event]), `${from} × ${event}`).toEqual({ state: states[from] });
    }
  }
});

it("the latest plan is the one that is queued and written", () => {
  const { state: queued } = nextState(states.queued, events["planned: another address"]);
  const { state: writing } = nextState(queued, events.dequeued);
  expect(writing.latest.plan).toMatchObject({ address: { text: "9.9.9.2" } });
});

it("a held name waits with the planned address", () => {
  const { state } = nextState(states.queued, events.held);
  expect(state.latest.plan).toEqual({ kind: "wait", ...backOff, address: address("9.9.9.1") });
});

it("a name that is held because its service is down fails for the same reason, without being sent", () => {
  const { state } = nextState(states.queued, { ...events.held, fault });
  expect(state).toMatchObject({ kind: "waiting", latest: { plan: { kind: "wait", until }, outcome: { fault } } });
});

describe("a name is written alone, not together with others,", () => {
  const refusedFor = (kind: TargetFault["kind"], ofService = false) =>
    result({ kind: "refused", fault: { kind, because: "no", todo: "look", ...(ofService && { ofService }) } });
  const stateAfter = (...happened: readonly NameEvent[]) =>
    happened.reduce((state, event) => nextState(state, event).state, states.writing);
  const again = events["planned: replace"];

  test.each<[string, readonly NameEvent[], true | undefined]>([
    ["if the service refused to write it with the others", [events.apart], true],
    ["also with a newer address", [events.apart, events["planned: another address"]], true],
    ["if it was refused the last time", [{ kind: "ended", result: refusedFor("refused") }, again], true],
    [
      "if it was refused before a wait",
      [{ kind: "ended", result: refusedFor("missing") }, events["planned: wait"], again, events.held, again],
      true,
    ],
    [
      "but not if another was refused and it was not sent",
      [
        ...[events["ended: done"], again],
        { kind: "postponed", wait: backOff, fault: { kind: "unauthorised", because: "403", todo: "look" } },
        again,
      ],
      undefined,
    ],
    ["but not after a success", [events["ended: done"], again], undefined],
    ["but not after an unknown outcome", [events["ended: unknown"], again], undefined],
    ["but not if it may succeed later", [events["ended: refused"], again], undefined],
    ["but not if the whole service fails", [{ kind: "ended", result: refusedFor("refused", true) }, again], undefined],
  ])("%s", (_, happened, alone) => {
    expect(stateAfter(...happened)).toMatchObject({ kind: "queued", ...(alone && { alone }) });
    expect("alone" in stateAfter(...happened)).toBe(alone ?? false);
  });
});
