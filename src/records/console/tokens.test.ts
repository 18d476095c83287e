import { describe, expect, it } from "vitest";
import { faultInWords } from "../../core/result.ts";
import { readTokenInput } from "./tokens.ts";

const input = (scope: unknown, name: unknown = "router") => readTokenInput({ name, scope });

describe("a requested token", () => {
  it("is accepted with everything that a scope can hold", () => {
    const scope = {
      access: "write",
      zones: ["example.org"],
      sets: [{ owner: "home", types: ["A", "AAAA"] }, { owner: "@" }],
      expires: 1_900_000_000_000,
      networks: ["192.0.2.0/24", "2001:db8::1"],
    };
    expect(input(scope)).toEqual({ ok: true, value: { name: "router", scope } });
  });

  it("has canonical names, and nothing that was not requested", () => {
    expect(input({ access: "read", zones: ["Example.ORG."], owner: "x" }, "  router ")).toEqual({
      ok: true,
      value: { name: "router", scope: { access: "read", zones: ["example.org"] } },
    });
  });

  it("that may write all zones must be confirmed", () => {
    const all = { name: "all", scope: { access: "write", expires: 1_900_000_000_000, networks: ["192.0.2.0/24"] } };
    const refused = readTokenInput(all);
    expect(refused.ok || refused.faults.map(faultInWords)).toEqual([
      "the token may write every zone, and create and delete zones; limit it to zones, names or types, or confirm it with allZones: true",
    ]);
    expect(readTokenInput({ ...all, allZones: true })).toEqual({
      ok: true,
      value: { name: all.name, scope: all.scope },
    });
  });

  it.for([
    ["no scope", undefined],
    ["no access", {}],
    ["an unknown access", { access: "all" }],
    ["no zones in the list of zones", { access: "read", zones: [] }],
    ["an invalid zone", { access: "read", zones: ["not a name"] }],
    ["an invalid owner", { access: "read", sets: [{ owner: "a..b" }] }],
    ["an owner of a wrong type", { access: "read", sets: [{ owner: 7 }] }],
    ["an unknown type", { access: "read", sets: [{ types: ["A", "NONE"] }] }],
    ["no types in the list of types", { access: "read", sets: [{ types: [] }] }],
    ["an invalid network", { access: "read", networks: ["192.0.2.0/33"] }],
    ["an invalid expiry", { access: "read", expires: "soon" }],
    ["an expiry of 0", { access: "read", expires: 0 }],
    ["too many rules", { access: "read", sets: Array.from({ length: 101 }, () => ({})) }],
  ] as const)("is refused with %s", ([, scope]) => {
    expect(input(scope).ok).toBe(false);
  });

  it.for([[""], ["  "], [undefined], ["x".repeat(101)], ["a\0b"], ["a\ud800b"]])(
    "is refused under the name %o",
    ([name]) => {
      expect(input({ access: "read" }, name ?? null).ok).toBe(false);
    },
  );
});
