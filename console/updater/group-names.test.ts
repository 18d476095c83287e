import { describe, expect, it } from "vitest";
import { groupNames, type NameState, stateOf, worstTone } from "./group-names.ts";

/** The rules of the updater's page. */

const record = (name: string, more: Partial<NameState> = {}): NameState => ({
  ...{ name, ok: true, wanted: "192.0.2.1", stored: "192.0.2.1", storedAt: null },
  ...{ what: "left as it is", because: "the address is still 192.0.2.1", onDrift: "set verify" },
  ...more,
});

describe("names", () => {
  it("are one each, with both families, in the order of the config", () => {
    const names = ["b.example.org A", "a.example.org A", "b.example.org AAAA"].map((name) => record(name));
    expect(groupNames(names).map(({ host, records }) => [host, records.map(({ name }) => name)])).toEqual([
      ["b.example.org", ["b.example.org A", "b.example.org AAAA"]],
      ["a.example.org", ["a.example.org A"]],
    ]);
  });

  it.each<[string, Partial<NameState>, readonly string[] | null | undefined, object]>([
    ["the record has the address", {}, ["192.0.2.1"], { tone: "in-step", words: "up to date" }],
    ["the record service cannot be read", {}, null, { tone: "in-step" }],
    ["it is paused, whatever the record has", { paused: true, ok: false }, [], { tone: "paused" }],
    ["the last write failed", { ok: false }, ["192.0.2.1"], { tone: "out-of-step" }],
    ["there is no address", { wanted: null }, [], { tone: "out-of-step" }],
    ["another address was stored", { stored: "192.0.2.9" }, undefined, { tone: "out-of-step" }],
    ["somebody changed the record", {}, ["192.0.2.9"], { tone: "out-of-step", drifted: true, todo: "set verify" }],
  ])("%s", (_, more, published, state) => {
    expect(stateOf(record("a.example.org A", more), published)).toMatchObject(state);
  });

  it("are as bad as the worst of their records", () => {
    expect(worstTone(["in-step", "paused", "out-of-step"])).toBe("out-of-step");
    expect(worstTone(["in-step", "paused"])).toBe("paused");
    expect(worstTone(["in-step"])).toBe("in-step");
  });
});
