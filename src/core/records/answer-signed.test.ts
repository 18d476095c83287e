import { describe, expect, it } from "vitest";
import { hashedLabelOf, signedZone } from "../../../test/rig/core/signed-zone.suite.ts";
import { createZoneView, dnameTo, writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { printLabels } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import { typeCode, typeFromCode } from "../rdata/table.ts";
import { type AnswerSet, answerQuestion, type QuestionType } from "./answer.ts";
import { diffSets } from "./changes.ts";
import { isSignatures } from "./packed-sets.ts";
import { changeZoneView, isGone, setsOfView, type ZoneView } from "./zone-view.ts";

const zone = "example.org";
const text = `
  @          3600 NS    ns1
  ns1        -    A     192.0.2.1
  a          60   A     192.0.2.2
  a          -    TXT   "a"
  alias      -    CNAME a
  out        -    CNAME www.example.net.
  x.y.deep   -    TXT   "deep"
  *.w        -    TXT   "any"
  here.w     -    A     192.0.2.3
  *.c        -    CNAME q.w
  moved      -    ${dnameTo("w.example.org")}
  sub        -    NS    ns.sub
  sub        -    DS    1 13 2 ${"ab".repeat(32)}
  ns.sub     -    A     192.0.2.4
  un         -    NS    ns1
  u.ent      -    NS    ns1`;

const names: Readonly<Record<number, string>> = { 39: "DNAME", 46: "RRSIG", 47: "NSEC", 50: "NSEC3" };

/**
 * Each set as its owner, its type and `+` if its signatures follow; the name of an NSEC3 record is the name that it was
 * made from.
 */
function asked(
  view: ZoneView,
  name: string,
  type: QuestionType,
  hashed: ReadonlyMap<string, string> = new Map(),
): string {
  const full = name === "@" ? zone : `${name}.${zone}`;
  const { kind, end, answer, authority, additional } = answerQuestion(view, labelsOf(full), type, true);
  const section = (sets: readonly AnswerSet[]) =>
    sets
      .map(({ name: labels, set }) => {
        if (isSignatures(set)) return "+";
        const own = printLabels(labels).replace(/\.?example\.org$/, "") || "@";
        return ` ${hashed.get(own) ?? own} ${names[typeCode(set.type)] ?? set.type}`;
      })
      .join("")
      .trim();
  return [end ? `${kind} ${end}` : kind, section(answer), section(authority), section(additional)].join(" | ").trim();
}

describe("answers of a zone with an NSEC chain", () => {
  const view = createZoneView(signedZone(zone, text, { kind: "nsec" }));
  it.each<[string, QuestionType, string]>([
    ["a", "A", "found | a A+ |  |"],
    ["@", "NS", "found | @ NS+ |  | ns1 A+"],
    ["a", "MX", "no-data |  | @ SOA+ a NSEC+ |"],
    ["a", undefined, "no-data |  | @ SOA+ a NSEC+ |"],
    ["b", "A", "no-name |  | @ SOA+ alias NSEC+ @ NSEC+ |"],
    ["b.a", "A", "no-name |  | @ SOA+ a NSEC+ |"],
    ["zz", "A", "no-name |  | @ SOA+ here.w NSEC+ @ NSEC+ |"],
    ["deep", "A", "no-data |  | @ SOA+ *.c NSEC+ |"],
    ["z.deep", "A", "no-name |  | @ SOA+ x.y.deep NSEC+ *.c NSEC+ |"],
    ["alias", "A", "alias found | alias CNAME+ a A+ |  |"],
    ["alias", "MX", "alias no-data | alias CNAME+ | @ SOA+ a NSEC+ |"],
    ["alias", "TYPE47", "found | alias NSEC+ |  |"],
    ["out", "A", "alias elsewhere | out CNAME+ |  |"],
    ["q.w", "TXT", "found | q.w TXT+ | here.w NSEC+ |"],
    ["q.w", "A", "no-data |  | @ SOA+ here.w NSEC+ *.w NSEC+ |"],
    ["1.w", "TXT", "found | 1.w TXT+ | *.w NSEC+ |"],
    ["z.c", "TXT", "alias found | z.c CNAME+ q.w TXT+ | *.c NSEC+ here.w NSEC+ |"],
    ["z.c", "A", "alias no-data | z.c CNAME+ | *.c NSEC+ @ SOA+ here.w NSEC+ *.w NSEC+ |"],
    ["z.moved", "TXT", "alias found | moved DNAME+ z.moved CNAME z.w TXT+ | here.w NSEC+ |"],
    ["x.sub", "A", "referral |  | sub NS sub DS+ | ns.sub A"],
    ["sub", "DS", "found | sub DS+ |  |"],
    ["un", "A", "referral |  | un NS un NSEC+ | ns1 A+"],
    ["un", "DS", "no-data |  | @ SOA+ un NSEC+ |"],
    ["a", "ANY", "found | a A+ |  |"],
    ["a", "TYPE46", "found | +++ |  |"],
    ["deep", "TYPE46", "no-data |  | @ SOA+ *.c NSEC+ |"],
  ])("%s %s", (name, type, expected) => expect(asked(view, name, type)).toBe(expected));

  it("to queries without DNSSEC are the same as if the zone were not signed", () => {
    const plain = createZoneView(writtenZone(zone, text));
    for (const name of ["a", "b", "deep", "alias", "q.w", "z.c", "z.moved", "x.sub", "un", "nothing.at.all"]) {
      for (const type of ["A", "TXT", "DS", "ANY"] as const) {
        const full = labelsOf(`${name}.${zone}`);
        expect(shown(answerQuestion(view, full, type))).toEqual(shown(answerQuestion(plain, full, type)));
      }
    }
  });
});

const shown = (answer: object) =>
  JSON.stringify(answer, (key, value) => (key === "rdata" || key === "wire" ? null : value));

describe.each([
  ["NSEC3", { kind: "nsec3", iterations: 2 }],
  ["NSEC3 with opt-out", { kind: "nsec3", optOut: true }],
] as const)("answers of a zone with an %s chain", (_, chaining) => {
  const zoneOf = signedZone(zone, text, chaining);
  const view = createZoneView(zoneOf);
  const iterations = "iterations" in chaining ? chaining.iterations : 0;
  const all = [
    "ns1",
    "a",
    "alias",
    "out",
    "x.y.deep",
    "y.deep",
    "deep",
    "*.w",
    "w",
    "here.w",
    "*.c",
    "c",
    "moved",
    "sub",
    "un",
    "u.ent",
    "ent",
  ];
  const hashed = new Map(
    [["@", zone], ...all.map((own) => [own, `${own}.${zone}`] as const)].map(([own = "", full = ""]) => [
      hashedLabelOf(full, iterations),
      own,
    ]),
  );
  /** The NSEC3 record that covers a name: the last one before its hash. */
  const cover = (own: string) => {
    const label = hashedLabelOf(`${own}.${zone}`, iterations);
    const labels = zoneOf.sets
      .filter(({ type }) => type === "TYPE50")
      .map(({ owner }) => owner)
      .sort();
    return hashed.get(labels.findLast((each) => each < label) ?? labels.at(-1) ?? "") ?? "";
  };
  /** The NSEC3 records of these names, each once. */
  const proof = (...owners: readonly string[]) => [...new Set(owners)].map((own) => `${own} NSEC3+`).join(" ");
  const optOut = "optOut" in chaining;

  it.each<[string, QuestionType, string]>([
    ["a", "A", "found | a A+ |  |"],
    ["a", "MX", `no-data |  | @ SOA+ ${proof("a")} |`],
    ["y.deep", "A", `no-data |  | @ SOA+ ${proof("y.deep")} |`],
    ["b", "A", `no-name |  | @ SOA+ ${proof("@", cover("*"), cover("b"))} |`],
    ["p.q.deep", "A", `no-name |  | @ SOA+ ${proof("deep", cover("*.deep"), cover("q.deep"))} |`],
    ["q.w", "TXT", `found | q.w TXT+ | ${proof(cover("q.w"))} |`],
    ["p.q.w", "TXT", `found | p.q.w TXT+ | ${proof(cover("q.w"))} |`],
    ["q.w", "A", `no-data |  | @ SOA+ ${proof(cover("q.w"), "w", "*.w")} |`],
    ["z.moved", "TXT", `alias found | moved DNAME+ z.moved CNAME z.w TXT+ | ${proof(cover("z.w"))} |`],
    ["x.sub", "A", "referral |  | sub NS sub DS+ | ns.sub A"],
    ["un", "A", `referral |  | un NS ${optOut ? proof(cover("un"), "@") : proof("un")} | ns1 A+`],
    ["un", "DS", `no-data |  | @ SOA+ ${optOut ? proof(cover("un"), "@") : proof("un")} |`],
    ["ent", "A", `no-data |  | @ SOA+ ${optOut ? proof(cover("ent"), "@") : proof("ent")} |`],
    [
      "v.ent",
      "A",
      `no-name |  | @ SOA+ ${optOut ? proof("@", cover("*"), cover("ent")) : proof("ent", cover("*.ent"), cover("v.ent"))} |`,
    ],
  ])("%s %s", (name, type, expected) => expect(asked(view, name, type, hashed)).toBe(expected));

  it("an NSEC3 record's own name does not exist (RFC 5155 section 7.2.8)", () => {
    const label = hashedLabelOf(`a.${zone}`, iterations);
    for (const type of ["A", "TYPE50", "TYPE46"] as const) expect(asked(view, label, type)).toMatch(/^no-name/);
  });
});

describe("a zone that is only partly signed is answered with what there is", () => {
  it.each([
    ["signatures without a chain", { kind: "none" }, "no-name |  | @ SOA+ |"],
    [
      "too many iterations to hash names (RFC 9276)",
      { kind: "nsec3", iterations: 51 },
      /^no-name \| {2}\| @ SOA\+ \S+ NSEC3\+ \|$/,
    ],
  ] as const)("%s", (_, chaining, expected) => {
    const view = createZoneView(signedZone(zone, text, chaining));
    if (typeof expected === "string") expect(asked(view, "b", "A")).toBe(expected);
    else expect(asked(view, "b", "A")).toMatch(expected);
  });

  it("a chain with gaps, and signatures that cannot be read", () => {
    const whole = signedZone(zone, text, { kind: "nsec" });
    const sets = whole.sets.filter(({ owner, type }) => owner === "@" || type !== "TYPE47");
    const view = createZoneView({
      ...whole,
      sets: [...sets, ...writtenSets(zone, "odd - TYPE46 \\# 2 0001\nodd - A 192.0.2.9")],
    });
    expect(asked(view, "zz", "A")).toBe("no-name |  | @ SOA+ @ NSEC+ |");
    expect(asked(view, "un", "A")).toBe("referral |  | un NS @ NSEC+ | ns1 A+");
    expect(asked(view, "odd", "A")).toBe("found | odd A |  |");
    expect(asked(view, "odd", "TYPE46")).toBe("found | + |  |");
  });

  it("a second NSEC3 chain, which is not complete yet, is not used", () => {
    const whole = signedZone(zone, text, { kind: "nsec3", iterations: 1 });
    const other = signedZone(zone, text, { kind: "nsec3" }).sets.filter(({ type }) => type === "TYPE50");
    const view = createZoneView(whole);
    const both = createZoneView({ ...whole, sets: [...whole.sets, ...other.slice(1)] });
    for (const name of ["b", "q.w", "un", "ent"]) expect(asked(both, name, "A")).toBe(asked(view, name, "A"));
  });
});

it("a large zone that gets a chain by a change has to be built again, in steps", () => {
  const many = Array.from({ length: 10_001 }, (_, i) => `h${i} - A 192.0.2.1`).join("\n");
  const chain = writtenSets(zone, `@ - TYPE47 \\# 3 000001\n@ - TYPE46 \\# 18 002f${"00".repeat(16)}`);
  const large = writtenZone(zone, many);
  expect(changeZoneView(createZoneView(large), 2, diffSets([], chain))).toBe(false);
  const built = createZoneView({ ...large, sets: [...large.sets, ...chain] });
  expect(asked(built, "h17x", "A")).toBe("no-name |  | @ SOA @ NSEC+ |");
  expect(changeZoneView(built, 3, [])).toBe(true);
});

describe("signatures in a view", () => {
  const zoneOf = signedZone(zone, text, { kind: "nsec" });
  const signaturesAt = (view: ZoneView, own: string) =>
    [...setsOfView(view)]
      .filter(({ name, set }) => isSignatures(set) && printLabels(name) === `${own}.${zone}`)
      .map(({ set }) => (isSignatures(set) ? `${typeFromCode(set.covers)} ${set.ttl}` : ""))
      .sort();

  it("have the TTL of the set that they cover", () => {
    expect(signaturesAt(createZoneView(zoneOf), "a")).toEqual(["A 60", "TXT 600", "TYPE47 300"]);
  });

  it("are replaced together; other sets stay valid", () => {
    const view = createZoneView(zoneOf);
    const kept = answerQuestion(view, labelsOf(`a.${zone}`), "TXT", true).answer.map(({ set }) => set);
    const before = zoneOf.sets.find(({ owner, type }) => owner === "a" && type === "TYPE46");
    const [first, ...others] = before?.records ?? [];
    if (before === undefined || first === undefined) throw new Error("not signed");
    const after = { ...before, records: others };
    changeZoneView(view, 2, [{ kind: "replace", owner: "a", type: "TYPE46", after }]);
    expect(asked(view, "a", "A")).toBe("found | a A |  |");
    expect(kept.map(isGone)).toEqual([false, false]);
    changeZoneView(view, 3, [{ kind: "delete", owner: "a", type: "TYPE46", after: null }]);
    expect(kept.map(isGone)).toEqual([false, true]);
    expect(signaturesAt(view, "a")).toEqual([]);
  });
});
