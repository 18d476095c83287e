import { describe, expect, it, test } from "vitest";
import { parseIpv4 } from "../../core/addresses/address.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import type { RecordTarget, TargetFault, WriteOutcome } from "../targets/target.ts";
import type { StoredAddress } from "./merge-state.ts";
import { NameMemory } from "./name-memory.ts";
import type { PendingWrite } from "./name-state.ts";
import { previewRecord } from "./preview.ts";
import { type WriteTools, writeRecord } from "./write-record.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const wanted = parseIpv4("9.9.9.9") as NonNullable<ReturnType<typeof parseIpv4>>;
const missing: TargetFault = { kind: "missing", because: "there is none", todo: "make it" };
const later: TargetFault = { kind: "later", because: "busy", todo: "wait", retryAfter: 5_000 };
const found = (...values: readonly string[]): Lookup<CurrentContent> => ({ kind: "found", value: { values, ttl: 60 } });

const update = (kind: "replace" | "compare", create = false) =>
  ({
    record: { key: "home A", spec: { zone: "example.org", name: "home", family: "ipv4", ...(create && { create }) } },
    plan: { kind, address: wanted },
  }) as PendingWrite;

type Service = {
  held?: Lookup<CurrentContent>;
  zone?: Lookup<readonly []>;
  outcome?: WriteOutcome;
  stored?: StoredAddress;
  isServedLater?: boolean;
};

function rig({ held = found(), zone = { kind: "found", value: [] }, outcome, stored, isServedLater }: Service = {}) {
  const asked: string[] = [];
  const kept = new Map(stored ? [["home A", stored]] : []);
  const memory = new NameMemory();
  const { signal } = new AbortController();
  const target = {
    ...(isServedLater && { isServedLater }),
    current: async () => {
      asked.push("current");
      return held;
    },
    records: async () => zone,
    replace: async ({ value }) => {
      asked.push(`replace ${value}`);
      return outcome ?? { kind: "done", recordId: "1", ttl: 60 };
    },
  } satisfies Partial<RecordTarget>;
  const tools: WriteTools = {
    memory,
    now: () => now,
    target: target as unknown as RecordTarget,
    state: {
      get: (key) => kept.get(key),
      set: async (key, entry) => void kept.set(key, entry),
      leaveBatch: async () => undefined,
      markInDoubt: async (key) => {
        const entry = kept.get(key);
        if (entry) kept.set(key, { ...entry, inDoubt: true });
      },
    },
  };
  return {
    asked,
    kept,
    memory,
    write: (planned: PendingWrite) => writeRecord(planned, tools, signal),
    preview: (planned: PendingWrite) => previewRecord(planned, tools, signal),
  };
}

describe("a planned update", () => {
  test.each<[string, Service, PendingWrite, readonly string[], string]>([
    ["is written", {}, update("replace"), ["replace 9.9.9.9"], "done"],
    ["is not written if the record is correct", { held: found("9.9.9.9") }, update("compare"), ["current"], "same"],
    [
      "is written if the record holds another address",
      { held: found("9.9.9.8") },
      update("compare"),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
    [
      "is written if the record holds another address besides",
      { held: found("9.9.9.9", "9.9.9.8") },
      update("compare"),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
    ["is refused if the record is missing", { held: missing }, update("compare"), ["current"], "refused"],
    [
      "is written if the record is missing and may be created",
      { held: missing },
      update("compare", true),
      ["current", "replace 9.9.9.9"],
      "done",
    ],
  ])("%s", async (_, service, planned, asked, kind) => {
    const { write, ...seen } = rig(service);
    expect((await write(planned))?.outcome?.kind).toBe(kind);
    expect(seen.asked).toEqual(asked);
  });

  it.each<[string, StoredAddress | undefined, readonly string[]]>([
    ["no write of it was stored", undefined, ["current", "replace 9.9.9.9"]],
    ["another address is stored", { address: "9.9.9.1", storedAt: "x" }, ["current", "replace 9.9.9.9"]],
    ["a write is in doubt", { address: "9.9.9.9", storedAt: "x", inDoubt: true }, ["current", "replace 9.9.9.9"]],
    ["it was confirmed", { address: "9.9.9.9", storedAt: "x" }, ["current"]],
  ])(
    "that the record holds, at a service that serves it only after another step, when %s",
    async (_, stored, asked) => {
      const outcome = { kind: "done", recordId: "1", ttl: 60, already: true } as const;
      const seen = rig({ held: found("9.9.9.9"), outcome, isServedLater: true, ...(stored && { stored }) });
      expect((await seen.write(update("compare")))?.outcome?.kind).toBe("same");
      expect(seen.asked).toEqual(asked);
      expect(seen.kept.get("home A")).toMatchObject({ address: "9.9.9.9" });
      expect(seen.kept.get("home A")?.inDoubt).toBeUndefined();
    },
  );

  it("that replaces another address says what the record held", async () => {
    const { write } = rig({ held: found("9.9.9.8") });
    expect(await write(update("compare"))).toMatchObject({ contentBefore: { values: ["9.9.9.8"] } });
  });

  it("is stored after a write, and counts as a change", async () => {
    const { write, kept, memory } = rig();
    await write(update("replace"));
    expect(kept.get("home A")).toEqual({ address: "9.9.9.9", storedAt: new Date(now).toISOString() });
    expect([memory.changes("home A"), memory.verifiedAt("home A")]).toEqual([[now], now]);
  });

  it("is stored when the record already holds it, and does not count as a change", async () => {
    const { write, kept, memory } = rig({ held: found("9.9.9.9"), stored: { address: "9.9.9.1", storedAt: "before" } });
    await write(update("compare"));
    expect(kept.get("home A")?.address).toBe("9.9.9.9");
    expect([memory.changes("home A"), memory.verifiedAt("home A")]).toEqual([[], now]);
  });

  it.each([
    ["is not a replacement", undefined, "same", 0],
    ["is one if an earlier write of it is in doubt", { address: "9.9.9.1", storedAt: "x", inDoubt: true }, "done", 1],
  ] as const)("that the record holds before it is sent %s", async (_, stored, kind, changes) => {
    const outcome = { kind: "done", recordId: "1", ttl: 60, already: true } as const;
    const { write, kept, memory } = rig({ outcome, ...(stored ? { stored } : {}) });
    expect((await write(update("replace")))?.outcome?.kind).toBe(kind);
    expect(kept.get("home A")?.address).toBe("9.9.9.9");
    expect(memory.changes("home A")).toHaveLength(changes);
  });

  it("that was already stored is not stored again", async () => {
    const stored = { address: "9.9.9.9", storedAt: "before" };
    const { write, kept } = rig({ held: found("9.9.9.9"), stored });
    await write(update("compare"));
    expect(kept.get("home A")).toBe(stored);
  });

  it("is no longer in doubt when the record holds it", async () => {
    const stored = { address: "9.9.9.9", storedAt: "before", inDoubt: true };
    const { write, kept } = rig({ held: found("9.9.9.9"), stored });
    await write(update("compare"));
    expect(kept.get("home A")).toEqual({ address: "9.9.9.9", storedAt: new Date(now).toISOString() });
  });

  it("is correct in any spelling of the service", async () => {
    const { write, asked } = rig({ held: found("2A00:0:0:0::9") });
    const six = { ...update("compare"), plan: { kind: "compare", address: { family: "ipv6", text: "2a00::9" } } };
    expect((await write(six as PendingWrite))?.outcome?.kind).toBe("same");
    expect(asked).toEqual(["current"]);
  });
});

describe("an update that is previewed", () => {
  test.each<[string, Service, PendingWrite, object]>([
    ["the record is correct", { held: found("9.9.9.9") }, update("compare"), { outcome: { kind: "same" } }],
    [
      "the record holds another address",
      { held: found("9.9.9.8") },
      update("compare"),
      { plan: { kind: "replace" }, contentBefore: { values: ["9.9.9.8"] } },
    ],
    ["the record is missing", { held: missing }, update("replace"), { outcome: { kind: "refused", fault: missing } }],
    [
      "the record and its zone are missing",
      { held: missing, zone: later },
      update("replace", true),
      { outcome: { kind: "refused", fault: later } },
    ],
    ["the service is busy", { held: later }, update("replace"), { outcome: { kind: "refused", fault: later } }],
  ])("%s: nothing is written or stored", async (_, service, planned, expected) => {
    const { preview, asked, kept } = rig(service);
    expect(await preview(planned)).toMatchObject(expected);
    expect([asked, kept.size]).toEqual([["current"], 0]);
  });

  it("has no fault if a missing record may be created", async () => {
    const { preview } = rig({ held: missing });
    expect(await preview(update("replace", true))).not.toHaveProperty("outcome");
  });
});
