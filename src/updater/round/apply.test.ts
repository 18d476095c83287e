import { describe, expect, it, test } from "vitest";
import { parseIpv4 } from "../../core/addresses/address.ts";
import type { Held, Lookup, RecordTarget, TargetFault, WriteOutcome } from "../targets/target.ts";
import { type ApplyTools, openApplying, previewRound } from "./apply.ts";
import type { StoredAddress } from "./merge-state.ts";
import type { PlannedUpdate } from "./plan.ts";
import { createRecall } from "./recall.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const wanted = parseIpv4("9.9.9.9") as NonNullable<ReturnType<typeof parseIpv4>>;
const missing: TargetFault = { kind: "missing", because: "there is none", todo: "make it" };
const later: TargetFault = { kind: "later", because: "busy", todo: "wait", retryAfter: 5_000 };
const found = (...values: readonly string[]): Lookup<Held> => ({ kind: "found", value: { values, ttl: 60 } });

const update = (kind: "replace" | "compare", name = "home", create = false) =>
  ({
    subject: {
      ...{ key: `${name} A`, target: "dns" },
      order: { zone: "example.org", name, family: "ipv4", ...(create && { create }) },
    },
    plan: { kind, address: wanted },
  }) as PlannedUpdate;

type Service = {
  held?: Lookup<Held>;
  zone?: Lookup<readonly []>;
  outcome?: WriteOutcome;
  stored?: StoredAddress;
};

function rig({ held = found(), zone = { kind: "found", value: [] }, outcome, stored }: Service = {}) {
  const asked: string[] = [];
  const kept = new Map(stored ? [["home A", stored]] : []);
  const holds: number[] = [];
  const recall = createRecall();
  const stop = new AbortController();
  let [open, most] = [0, 0];
  const target = {
    current: async () => {
      asked.push("current");
      return held;
    },
    records: async () => zone,
    replace: async ({ value }) => {
      asked.push(`replace ${value}`);
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= 1;
      return outcome ?? { kind: "done", recordId: "1", ttl: 60 };
    },
  } satisfies Partial<RecordTarget>;
  const tools: ApplyTools = {
    ...{ recall, now: () => now, serviceOf: () => "dns", notBefore: () => undefined },
    targets: new Map([["dns", target as unknown as RecordTarget]]),
    state: {
      ...{ get: (key) => kept.get(key), hold: () => undefined, setHold: async () => {}, flush: async () => false },
      set: async (key, entry) => void kept.set(key, entry),
    },
    hold: async (_, until) => void holds.push(until),
  };
  return {
    ...{ asked, kept, holds, recall, stop, most: () => most },
    apply: async (...planned: readonly PlannedUpdate[]) =>
      (await openApplying(tools, () => undefined).act(planned, stop.signal))[0],
    preview: async (...planned: readonly PlannedUpdate[]) => (await previewRound(planned, tools, stop.signal))[0],
  };
}

describe("an update that is applied", () => {
  test.each<[string, Service, PlannedUpdate, readonly string[], string]>([
    ["is written", {}, update("replace"), ["replace 9.9.9.9"], "done"],
    ["is read first, and right", { held: found("9.9.9.9") }, update("compare"), ["current"], "same"],
    [
      "is read first, and another",
      { held: found("9.9.9.8") },
      update("compare"),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
    [
      "is one of two values",
      { held: found("9.9.9.9", "9.9.9.8") },
      update("compare"),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
    ["is not there", { held: missing }, update("compare"), ["current"], "refused"],
    [
      "is not there and shall be",
      { held: missing },
      update("compare", "home", true),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
  ])("%s", async (_, service, planned, asked, kind) => {
    const { apply, ...seen } = rig(service);
    expect((await apply(planned))?.outcome?.kind).toBe(kind);
    expect(seen.asked).toEqual(asked);
  });

  it("is remembered when it was written, and counted as a change", async () => {
    const { apply, kept, recall } = rig();
    await apply(update("replace"));
    expect(kept.get("home A")).toEqual({ address: "9.9.9.9", storedAt: new Date(now).toISOString() });
    expect([recall.changes("home A"), recall.verifiedAt("home A")]).toEqual([[now], now]);
  });

  it("is remembered when it was found there, and that is no change", async () => {
    const { apply, kept, recall } = rig({ held: found("9.9.9.9"), stored: { address: "9.9.9.1", storedAt: "before" } });
    await apply(update("compare"));
    expect(kept.get("home A")?.address).toBe("9.9.9.9");
    expect([recall.changes("home A"), recall.verifiedAt("home A")]).toEqual([[], now]);
  });

  it("that was stored before is not stored again for being found", async () => {
    const stored = { address: "9.9.9.9", storedAt: "before" };
    const { apply, kept } = rig({ held: found("9.9.9.9"), stored });
    await apply(update("compare"));
    expect(kept.get("home A")).toBe(stored);
  });

  it("that was in doubt is no longer when it was found there", async () => {
    const stored = { address: "9.9.9.9", storedAt: "before", inDoubt: true };
    const { apply, kept } = rig({ held: found("9.9.9.9"), stored });
    await apply(update("compare"));
    expect(kept.get("home A")).toEqual({ address: "9.9.9.9", storedAt: new Date(now).toISOString() });
  });

  it("is right in whatever spelling the service has it", async () => {
    const { apply, asked } = rig({ held: found("2A00:0:0:0::9") });
    const six = { ...update("compare"), plan: { kind: "compare", address: { family: "ipv6", text: "2a00::9" } } };
    expect((await apply(six as PlannedUpdate))?.outcome?.kind).toBe("same");
    expect(asked).toEqual(["current"]);
  });

  it("is not begun once all shall stop", async () => {
    const { apply, asked, stop } = rig();
    stop.abort();
    expect(await apply(update("replace"))).not.toHaveProperty("outcome");
    expect(asked).toEqual([]);
  });

  it("is one of a few at once", async () => {
    const { apply, most } = rig();
    await apply(...Array.from({ length: 9 }, (_, i) => update("replace", `host${i}`)));
    expect(most()).toBe(4);
  });

  it("makes us stay away as long as the service asks for", async () => {
    const { apply, holds } = rig({ outcome: { kind: "unknown", fault: later } });
    await apply(update("replace"));
    expect(holds).toEqual([now + 5_000]);
  });
});

describe("an update that is previewed", () => {
  test.each<[string, Service, PlannedUpdate, object]>([
    ["right", { held: found("9.9.9.9") }, update("compare"), { outcome: { kind: "same" } }],
    [
      "another",
      { held: found("9.9.9.8") },
      update("compare"),
      { plan: { kind: "replace" }, found: { values: ["9.9.9.8"] } },
    ],
    ["not there", { held: missing }, update("replace"), { outcome: { kind: "refused", fault: missing } }],
    [
      "not there, with its zone",
      { held: missing, zone: later },
      update("replace", "home", true),
      { outcome: { kind: "refused", fault: later } },
    ],
    ["busy", { held: later }, update("replace"), { outcome: { kind: "refused", fault: later } }],
  ])("%s: nothing is written or remembered", async (_, service, planned, expected) => {
    const { preview, asked, kept, holds } = rig(service);
    expect(await preview(planned)).toMatchObject(expected);
    expect([asked, kept.size, holds]).toEqual([["current"], 0, []]);
  });

  it("not there, and shall be made", async () => {
    const { preview } = rig({ held: missing });
    expect(await preview(update("replace", "home", true))).not.toHaveProperty("outcome");
  });
});
