import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../test/rig/long-run.ts";
import { may, mayWriteZones, type Operation, ownersSeen, type Scope, typesSeen, wholeAccount } from "./may.ts";

const now = 1_000;
const readZone: Operation = { kind: "read-zone", zone: "example.org", now };
const createZone: Operation = { kind: "create-zone", zone: "example.org", now };
const writeZone: Operation = { kind: "write-zone", zone: "example.org", now };
const deleteZone: Operation = { kind: "delete-zone", zone: "example.org", now };
const readSet: Operation = { kind: "read-set", zone: "example.org", owner: "www", type: "A", now };
const writeSet: Operation = { kind: "write-set", zone: "example.org", owner: "www", type: "A", now };
const listZones: Operation = { kind: "list-zones", now };
const administer: Operation = { kind: "administer", now };
const all = [listZones, readZone, createZone, writeZone, deleteZone, readSet, writeSet, administer];

const from = (operation: Operation, address: string): Operation => ({ ...operation, from: address });
const write = (rest: Partial<Scope>): Scope => ({ access: "write", ...rest });

describe("a scope and an operation", () => {
  test.each<[string, Scope, Operation, string]>([
    ["the zone is named", write({ zones: ["example.org"] }), writeSet, "yes"],
    ["another zone is named", write({ zones: ["example.net"] }), readZone, "zone-not-in-scope"],
    ["another zone is named", write({ zones: ["example.net"] }), createZone, "zone-not-in-scope"],
    ["no zone is named", write({ zones: [] }), readSet, "zone-not-in-scope"],
    ["the zone is named, and created", write({ zones: ["example.org"] }), createZone, "yes"],
    [
      "a zone is named, the account is administered",
      write({ zones: ["example.org"] }),
      administer,
      "account-not-in-scope",
    ],
    ["the set is named", write({ sets: [{ owner: "www", types: ["A"] }] }), writeSet, "yes"],
    ["only the set's owner is named", write({ sets: [{ owner: "www" }] }), writeSet, "yes"],
    ["only the set's type is named", write({ sets: [{ types: ["AAAA", "A"] }] }), writeSet, "yes"],
    ["every set is allowed", write({ sets: [{}] }), writeSet, "yes"],
    ["another owner is named", write({ sets: [{ owner: "ftp", types: ["A"] }] }), writeSet, "set-not-in-scope"],
    ["another type is named", write({ sets: [{ owner: "www", types: ["TXT"] }] }), readSet, "set-not-in-scope"],
    [
      "owner and type in two rules",
      write({ sets: [{ owner: "www", types: [] }, { owner: "x" }] }),
      writeSet,
      "set-not-in-scope",
    ],
    ["no set is allowed", write({ sets: [] }), readSet, "set-not-in-scope"],
    ["a set is named, the zone is read", write({ sets: [{ owner: "www" }] }), readZone, "yes"],
    ["a set is named, the zone is written", write({ sets: [{ owner: "www" }] }), writeZone, "set-not-in-scope"],
    ["a set is named, the zone is deleted", write({ sets: [{}] }), deleteZone, "set-not-in-scope"],
    ["a set is named, the account is administered", write({ sets: [{}] }), administer, "account-not-in-scope"],
    ["the token expires later", write({ expires: now + 1 }), writeSet, "yes"],
    ["the token expires now", write({ expires: now }), listZones, "expired"],
    ["the token has expired", write({ expires: 0 }), readSet, "expired"],
    ["the caller is in the network", write({ networks: ["192.0.2.0/24"] }), from(readSet, "192.0.2.9"), "yes"],
    ["the caller is in the second network", write({ networks: ["10.0.0.0/8", "::1"] }), from(readSet, "::1"), "yes"],
    [
      "in the network, on a dual-stack socket",
      write({ networks: ["192.0.2.0/24"] }),
      from(readSet, "::ffff:192.0.2.9"),
      "yes",
    ],
    [
      "in the network, with a link-local address",
      write({ networks: ["fe80::/10"] }),
      from(readSet, "fe80::1%eth0"),
      "yes",
    ],
    [
      "the caller is in another network",
      write({ networks: ["192.0.2.0/24"] }),
      from(readSet, "192.0.3.9"),
      "network-not-in-scope",
    ],
    ["unknown caller", write({ networks: ["0.0.0.0/0", "::/0"] }), readSet, "network-not-in-scope"],
    ["unreadable caller", write({ networks: ["0.0.0.0/0"] }), from(readSet, "localhost"), "network-not-in-scope"],
    ["unreadable network", write({ networks: ["everywhere"] }), from(readSet, "192.0.2.9"), "network-not-in-scope"],
    ["a hidden zone is not reported as read-only", { access: "read", zones: [] }, writeSet, "zone-not-in-scope"],
  ])("%s: %j %j", (_, scope, operation, expected) => {
    const verdict = may(scope, operation);
    expect(verdict.kind === "yes" ? "yes" : verdict.because).toBe(expected);
  });

  test.each(all)("the whole account: $kind", (operation) => {
    expect(may(wholeAccount, operation)).toEqual({ kind: "yes" });
  });

  test.each(all)("read only: $kind", (operation) => {
    const reading = ["list-zones", "read-zone", "read-set"].includes(operation.kind);
    expect(may({ access: "read" }, operation)).toEqual(
      reading ? { kind: "yes" } : { kind: "no", because: "read-only" },
    );
  });
});

const zone = fc.constantFrom("example.org", "example.net");
const owner = fc.constantFrom("@", "www");
const type = fc.constantFrom("A" as const, "TXT" as const);
const rule = fc.record({ owner, types: fc.uniqueArray(type) }, { requiredKeys: [] });
const network = fc.constantFrom("192.0.2.0/24", "192.0.0.0/16", "::/0", "nonsense");

const anyScope: fc.Arbitrary<Scope> = fc.record(
  {
    access: fc.constantFrom("read" as const, "write" as const),
    zones: fc.uniqueArray(zone),
    sets: fc.array(rule, { maxLength: 3 }),
    expires: fc.integer({ min: 0, max: 10 }),
    networks: fc.uniqueArray(network),
  },
  { requiredKeys: ["access"] },
);

const asked = { now: fc.integer({ min: 0, max: 11 }), from: fc.constantFrom("192.0.2.1", "192.0.9.1", "2001:db8::1") };
const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("list-zones" as const, "administer" as const), ...asked }),
  fc.record({
    kind: fc.constantFrom("create-zone" as const, "read-zone" as const, "write-zone" as const, "delete-zone" as const),
    zone,
    ...asked,
  }),
  fc.record({ kind: fc.constantFrom("read-set" as const, "write-set" as const), zone, owner, type, ...asked }),
);

/** The intersection of two scopes: lists in both are reduced to what they share, rule by rule. */
function narrowed(scope: Scope, by: Scope): Scope {
  const expires = Math.min(scope.expires ?? Infinity, by.expires ?? Infinity);
  const zones = shared(scope.zones, by.zones);
  const networks = shared(scope.networks, by.networks);
  const sets = scope.sets === undefined ? by.sets : scope.sets.slice(0, by.sets?.length);
  return {
    access: scope.access === "read" ? "read" : by.access,
    ...(zones && { zones }),
    ...(networks && { networks }),
    ...(sets && { sets }),
    ...(expires < Infinity && { expires }),
  };
}

const shared = (a: readonly string[] | undefined, b: readonly string[] | undefined) =>
  a === undefined ? b : b === undefined ? a : a.filter((item) => b.includes(item));

describe("laws", () => {
  test("`ownersSeen` has the owner of every visible set, and only owners that a rule names", () => {
    fc.assert(
      fc.property(anyScope, anyOperation, (scope, operation) => {
        const seen = ownersSeen(scope);
        if (operation.kind === "read-set" && may(scope, operation).kind === "yes")
          expect(seen ?? [operation.owner]).toContain(operation.owner);
        const named = scope.sets?.map((each) => each.owner) ?? [];
        if (seen !== undefined) expect(new Set(seen)).toEqual(new Set(named));
      }),
    );
  });

  test("`typesSeen` has the type of every visible set, and only types that a rule names", () => {
    fc.assert(
      fc.property(anyScope, anyOperation, (scope, operation) => {
        const seen = typesSeen(scope);
        if (operation.kind === "read-set" && may(scope, operation).kind === "yes")
          expect(seen ?? [operation.type]).toContain(operation.type);
        const named = scope.sets?.flatMap((each) => each.types ?? []) ?? [];
        if (seen !== undefined) expect(new Set(seen)).toEqual(new Set(named));
      }),
    );
  });

  test("a narrower scope never allows more", () => {
    fc.assert(
      fc.property(anyScope, anyScope, anyOperation, (scope, by, operation) => {
        fc.pre(may(narrowed(scope, by), operation).kind === "yes");
        expect(may(scope, operation)).toEqual({ kind: "yes" });
      }),
      runs(100),
    );
  });

  test("a rule with fewer types, or with an owner, never allows more", () => {
    fc.assert(
      fc.property(anyScope, rule, owner, type, anyOperation, (scope, wide, name, kept, operation) => {
        const narrow = { owner: wide.owner ?? name, types: (wide.types ?? [kept]).filter((t) => t === kept) };
        fc.pre(may({ ...scope, sets: [narrow] }, operation).kind === "yes");
        expect(may({ ...scope, sets: [wide] }, operation)).toEqual({ kind: "yes" });
      }),
      runs(100),
    );
  });

  test("a token that may write a set may read it, and its zone", () => {
    fc.assert(
      fc.property(anyScope, anyOperation, (scope, operation) => {
        fc.pre(operation.kind === "write-set" && may(scope, operation).kind === "yes");
        if (operation.kind !== "write-set") return;
        expect(may(scope, { ...operation, kind: "read-set" })).toEqual({ kind: "yes" });
        expect(may(scope, { ...operation, kind: "read-zone" })).toEqual({ kind: "yes" });
      }),
    );
  });
});

describe("mayWriteZones", () => {
  test.each<[string, Scope, boolean]>([
    ["the whole account", wholeAccount, true],
    ["some zones", { access: "write", zones: ["a.example"] }, true],
    ["no zone", { access: "write", zones: [] }, false],
    ["some sets", { access: "write", sets: [{ owner: "www" }] }, false],
    ["reading", { access: "read" }, false],
  ])("a token for %s", (_, scope, expected) => expect(mayWriteZones(scope)).toBe(expected));
});
