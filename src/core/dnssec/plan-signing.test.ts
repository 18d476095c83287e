import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { typeCode } from "../rdata/table.ts";
import type { RRset } from "../records/rrset.ts";
import { finish } from "../steps.ts";
import { canonicalSortKey } from "./canonical.ts";
import {
  type DenialKind,
  type NameChange,
  planningSigning,
  type SigningParameters,
  type SigningPlan,
  type StoredSignedNames,
} from "./plan-signing.ts";
import { joined, signatureInput } from "./records.ts";
import type { SignedName } from "./signed-name.ts";

const zone = "example.org";
const key = { id: "one", tag: 4711, algorithm: 13 } as const;
const signing = (denial: DenialKind): SigningParameters => ({
  denial,
  zoneKeys: [key],
  keySetKeys: [key],
  apexSets: [{ type: 48, data: [Uint8Array.of(1, 1, 3, 13, 9, 9)] }],
  now: 4_000_000_000,
  renewBefore: 0,
});

/** Signatures that depend on nothing but what they sign. */
function signAll(plan: SigningPlan): readonly NameChange[] {
  return [...plan.namePlans()].flatMap(({ toSign, change }) => {
    const signatures = toSign.map(({ name, covers, ttl, data, keys }) =>
      keys.map(({ tag, algorithm }) => {
        const head = { covers, ttl, tag, algorithm, zone, expires: 2_000, inception: 1_000 };
        const { start, signed } = signatureInput(head, { name, data });
        return joined([start, createHash("sha512").update(signed).digest()]);
      }),
    );
    return change(signatures) ?? [];
  });
}

function namesIn(stored: ReadonlyMap<string, SignedName>): StoredSignedNames {
  const chain = [...stored.values()]
    .filter(({ chainKey }) => chainKey !== null)
    .sort((a, b) => ((a.chainKey ?? "") < (b.chainKey ?? "") ? -1 : 1));
  return {
    at: (owner) => stored.get(owner),
    before: (chainKey) => chain.findLast((each) => (each.chainKey ?? "") < chainKey) ?? chain.at(-1),
    after: (chainKey) => chain.find((each) => (each.chainKey ?? "") > chainKey) ?? chain[0],
  };
}

type Zone = Map<string, Map<RRset["type"], RRset>>;

const setsAt = (sets: Zone, owner: string): readonly RRset[] => [...(sets.get(owner)?.values() ?? [])];

/** `changed`: owners and types. */
const inputFor = (sets: Zone, touched: Iterable<string>, denial: DenialKind, changed: ReadonlySet<string>) => ({
  zone,
  ttl: 300,
  negativeTtl: 60,
  signing: signing(denial),
  touched: new Map([...touched].map((owner) => [owner, setsAt(sets, owner).map(({ type }) => typeCode(type))])),
  setsAt: (owner: string) => ({
    sets: setsAt(sets, owner),
    changed: new Set(
      [...changed].filter((each) => each.startsWith(`${owner} `)).map((each) => each.split(" ")[1] as RRset["type"]),
    ),
  }),
});

function whole(sets: Zone, stored: ReadonlyMap<string, SignedName>, denial: DenialKind, changed: ReadonlySet<string>) {
  const base = inputFor(sets, [...sets.keys()], denial, changed);
  const plan = finish(planningSigning({ ...base, names: namesIn(stored), allNames: [...stored.values()] }));
  if (plan === "needs-all-names") throw new Error("a plan of the whole zone asks for the whole zone");
  return plan;
}

function apply(stored: ReadonlyMap<string, SignedName>, changes: readonly NameChange[]) {
  const next = new Map(stored);
  for (const { before } of changes) if (before) next.delete(before.owner);
  for (const { after } of changes) if (after) next.set(after.owner, after);
  return next;
}

const sorted = (stored: ReadonlyMap<string, SignedName>) =>
  [...stored.values()]
    .map(({ generated, types, ...name }) => ({
      ...name,
      types: types.toSorted((a, b) => a - b),
      generated: generated
        .map(({ owner, type, ttl, values }) => [owner, type, ttl, ...values.toSorted()].join(" "))
        .sort(),
    }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));

const owners = ["@", "a", "b", "x.a", "y.x.a", "*.a", "z.y.x.a", "sub", "ns.sub", "q.ns.sub", "c.b"] as const;
const contents = [
  "A 192.0.2.1",
  "A 192.0.2.2",
  'TXT "t"',
  "NS ns.other.net.",
  `DS 1 13 2 ${"ab".repeat(32)}`,
  "TYPE39 \\# 3 016100",
] as const;

const step = fc.record({
  owner: fc.constantFrom(...owners),
  content: fc.constantFrom(...contents),
  remove: fc.boolean(),
});

it.each(["nsec", "nsec3"] as const)(
  "%s: after a write, the records are the same as if the whole zone had been signed again",
  (denial) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const soa = (serial: number) =>
          writtenSets(zone, `@ - SOA ns1 hostmaster ${serial} 7200 900 1209600 300`)[0] as RRset;
        const sets: Zone = new Map([["@", new Map([["SOA", soa(1)]])]]);
        let stored: ReadonlyMap<string, SignedName> = new Map();
        stored = apply(stored, signAll(whole(sets, stored, denial, new Set())));
        for (const [i, { owner, content, remove }] of steps.entries()) {
          const [set] = writtenSets(zone, `${owner} - ${content}`);
          if (set === undefined) throw new Error("no set");
          const here = sets.get(owner) ?? new Map<RRset["type"], RRset>();
          sets.set(owner, here);
          if (remove) here.delete(set.type);
          else here.set(set.type, set);
          sets.get("@")?.set("SOA", soa(i + 2));
          const changed = new Set([`${owner} ${set.type}`, "@ SOA"]);
          if (here.size === 0) sets.delete(owner);
          const base = inputFor(sets, new Set([owner, "@"]), denial, changed);
          const plan = finish(planningSigning({ ...base, names: namesIn(stored) }));
          stored = apply(stored, signAll(plan === "needs-all-names" ? whole(sets, stored, denial, changed) : plan));
          const anew = apply(new Map(), signAll(whole(sets, new Map(), denial, new Set())));
          expect(sorted(stored)).toEqual(sorted(anew));
        }
      }),
      runs(10),
    );
  },
);

it("orders names as RFC 4034 section 6.1 does", () => {
  const names = ["@", "a", "yljkjljk.a", "Z.a".toLowerCase(), "zabc.a", "z", "\\001.z", "*.z", "\\200.z"];
  expect(names.toSorted((a, b) => (canonicalSortKey(a) < canonicalSortKey(b) ? -1 : 1))).toEqual(names);
});

it("asks for the sets of one name at a time, when that name is signed", () => {
  const lines = ["@ - SOA ns1 hostmaster 1 7200 900 1209600 300", "a - A 192.0.2.1", "b - A 192.0.2.2"];
  const sets: Zone = new Map(
    writtenSets(zone, lines.join("\n")).map((set) => [set.owner, new Map([[set.type, set]])] as const),
  );
  const asked: string[] = [];
  const base = inputFor(sets, sets.keys(), "nsec", new Set());
  const setsOf = (owner: string) => {
    asked.push(owner);
    return base.setsAt(owner);
  };
  const plan = finish(planningSigning({ ...base, setsAt: setsOf, names: namesIn(new Map()), allNames: [] }));
  if (plan === "needs-all-names") throw new Error("a plan of the whole zone asks for the whole zone");
  expect(asked).toEqual([]);
  const seen = [];
  for (const { toSign, change } of plan.namePlans()) seen.push([change(toSign.map(() => []))?.after?.owner, ...asked]);
  expect(seen).toEqual([
    ["@", "@"],
    ["a", "@", "a"],
    ["b", "@", "a", "b"],
  ]);
});
