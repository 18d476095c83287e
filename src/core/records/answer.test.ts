import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dig, printSets } from "../../../test/rig/core/dig-view.suite.ts";
import { createZoneView, dnameTo, writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { labelsOf } from "../names/name.ts";
import { answerQuestion, type QuestionType } from "./answer.ts";
import { diffSets } from "./changes.ts";
import type { RRset } from "./rrset.ts";
import { changeZoneView, isGone, setsOfView, type ZoneView } from "./zone-view.ts";

const example = `
  @          3600 NS    ns1
  @          3600 NS    ns.other.net.
  @          -    MX    10 mail
  @          -    MX    20 mail
  ns1        -    A     192.0.2.1
  ns1        -    AAAA  2001:db8::1
  mail       -    A     192.0.2.2
  www        60   CNAME web
  web        -    A     192.0.2.3
  web        -    A     192.0.2.4
  out        -    CNAME www.other.net.
  dangling   -    CNAME missing
  empty      -    CNAME web.a.b
  loop       -    CNAME pool
  pool       -    CNAME loop
  self       -    CNAME self
  into       -    CNAME host.sub
  _sip._tcp  -    SRV   0 0 5060 mail
  x.a.b      -    TXT   "deep"
  *.wild     -    TXT   "any"
  *.wild     -    MX    10 mail
  here.wild  -    A     192.0.2.5
  b.c.wild   -    A     192.0.2.6
  *.alias    -    CNAME web
  sub        -    NS    ns.sub
  sub        -    NS    ns1
  sub        -    TXT   "hidden"
  ns.sub     -    A     192.0.2.7
  deep.sub   -    NS    ns1
  plain      -    NS    ns.other.net.`;

const view = createZoneView(writtenZone("example.org", example));

const soa = "authority example.org. 300 SOA ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 300";
const referralToSub = [
  "authority sub.example.org. 600 NS ns.sub.example.org.",
  "authority sub.example.org. 600 NS ns1.example.org.",
  "additional ns.sub.example.org. 600 A 192.0.2.7",
  "additional ns1.example.org. 600 A 192.0.2.1",
  "additional ns1.example.org. 600 AAAA 2001:db8::1",
];
const web = ["answer web.example.org. 600 A 192.0.2.3", "answer web.example.org. 600 A 192.0.2.4"];

it("a negative answer may be cached at most as long as the SOA itself", () => {
  const short = createZoneView(writtenZone("example.org", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300"));
  expect(dig(short, "nothing.example.org", "A")).toEqual(["no-name", soa.replace("300 SOA", "60 SOA")]);
});

describe("answers", () => {
  it.each<[string, QuestionType, string[]]>([
    ["web.example.org", "A", ["found", ...web]],
    ["web.example.org", "AAAA", ["no-data", soa]],
    ["web.example.org", undefined, ["no-data", soa]],
    ["nothing.example.org", "A", ["no-name", soa]],
    ["a.web.example.org", "A", ["no-name", soa]],
    ["example.org", "SOA", ["found", soa.replace("authority", "answer").replace("300 SOA", "3600 SOA")]],
    ["example.net", "A", ["not-ours"]],
    ["org", "A", ["not-ours"]],
    ["badexample.org", "A", ["not-ours"]],
    [
      "example.org",
      "NS",
      [
        "found",
        "answer example.org. 3600 NS ns1.example.org.",
        "answer example.org. 3600 NS ns.other.net.",
        "additional ns1.example.org. 600 A 192.0.2.1",
        "additional ns1.example.org. 600 AAAA 2001:db8::1",
      ],
    ],
    [
      "example.org",
      "MX",
      [
        "found",
        "answer example.org. 600 MX 10 mail.example.org.",
        "answer example.org. 600 MX 20 mail.example.org.",
        "additional mail.example.org. 600 A 192.0.2.2",
      ],
    ],
    [
      "_sip._tcp.example.org",
      "SRV",
      [
        "found",
        "answer _sip._tcp.example.org. 600 SRV 0 0 5060 mail.example.org.",
        "additional mail.example.org. 600 A 192.0.2.2",
      ],
    ],
  ])("%s %s", (name, type, expected) => {
    expect(dig(view, name, type)).toEqual(expected);
  });
});

describe("empty non-terminals are names", () => {
  it.each<[string, QuestionType, string[]]>([
    ["a.b.example.org", "TXT", ["no-data", soa]],
    ["b.example.org", "TXT", ["no-data", soa]],
    ["_tcp.example.org", "SRV", ["no-data", soa]],
    ["c.b.example.org", "TXT", ["no-name", soa]],
    ["wild.example.org", "TXT", ["no-data", soa]],
  ])("%s %s", (name, type, expected) => {
    expect(dig(view, name, type)).toEqual(expected);
  });
});

describe("aliases", () => {
  const alias = "answer www.example.org. 60 CNAME web.example.org.";
  it.each<[string, QuestionType, string[]]>([
    ["www.example.org", "A", ["alias found", alias, ...web]],
    ["www.example.org", "TXT", ["alias no-data", alias, soa]],
    ["www.example.org", "CNAME", ["found", alias]],
    ["www.example.org", "ANY", ["found", alias]],
    ["out.example.org", "A", ["alias elsewhere", "answer out.example.org. 600 CNAME www.other.net."]],
    [
      "dangling.example.org",
      "A",
      ["alias no-name", "answer dangling.example.org. 600 CNAME missing.example.org.", soa],
    ],
    ["empty.example.org", "A", ["alias no-name", "answer empty.example.org. 600 CNAME web.a.b.example.org.", soa]],
    ["self.example.org", "A", ["alias loop", "answer self.example.org. 600 CNAME self.example.org."]],
    [
      "loop.example.org",
      "A",
      [
        "alias loop",
        "answer loop.example.org. 600 CNAME pool.example.org.",
        "answer pool.example.org. 600 CNAME loop.example.org.",
      ],
    ],
    [
      "into.example.org",
      "A",
      ["alias referral", "answer into.example.org. 600 CNAME host.sub.example.org.", ...referralToSub],
    ],
    ["any.alias.example.org", "A", ["alias found", "answer any.alias.example.org. 600 CNAME web.example.org.", ...web]],
  ])("%s %s", (name, type, expected) => {
    expect(dig(view, name, type)).toEqual(expected);
  });
});

describe("wildcards (RFC 4592)", () => {
  it.each<[string, QuestionType, string[]]>([
    ["one.wild.example.org", "TXT", ["found", 'answer one.wild.example.org. 600 TXT "any"']],
    ["two.one.wild.example.org", "TXT", ["found", 'answer two.one.wild.example.org. 600 TXT "any"']],
    ["*.wild.example.org", "TXT", ["found", 'answer *.wild.example.org. 600 TXT "any"']],
    ["a.*.wild.example.org", "TXT", ["no-name", soa]],
    ["one.wild.example.org", "A", ["no-data", soa]],
    ["here.wild.example.org", "TXT", ["no-data", soa]],
    ["a.here.wild.example.org", "TXT", ["no-name", soa]],
    ["c.wild.example.org", "TXT", ["no-data", soa]],
    ["a.c.wild.example.org", "TXT", ["no-name", soa]],
    ["wild.example.org", "MX", ["no-data", soa]],
  ])("%s %s", (name, type, expected) => {
    expect(dig(view, name, type)).toEqual(expected);
  });
});

describe("delegations", () => {
  it.each<[string, QuestionType, string[]]>([
    ["sub.example.org", "A", ["referral", ...referralToSub]],
    ["sub.example.org", "NS", ["referral", ...referralToSub]],
    ["sub.example.org", "TXT", ["referral", ...referralToSub]],
    ["sub.example.org", "ANY", ["referral", ...referralToSub]],
    ["a.b.sub.example.org", "A", ["referral", ...referralToSub]],
    ["ns.sub.example.org", "A", ["referral", ...referralToSub]],
    ["deep.sub.example.org", "NS", ["referral", ...referralToSub]],
    ["plain.example.org", "A", ["referral", "authority plain.example.org. 600 NS ns.other.net."]],
    ["sub.example.org", "DS" as QuestionType, ["no-data", soa]],
  ])("%s %s", (name, type, expected) => {
    expect(dig(view, name, type)).toEqual(expected);
  });
});

describe("ANY is answered with one set (RFC 8482)", () => {
  it.each([
    ["ns1.example.org", ["found", "answer ns1.example.org. 600 A 192.0.2.1"]],
    ["x.a.b.example.org", ["found", 'answer x.a.b.example.org. 600 TXT "deep"']],
    ["b.example.org", ["no-data", soa]],
    ["nothing.example.org", ["no-name", soa]],
  ])("%s", (name, expected) => {
    expect(dig(view, name, "ANY")).toEqual(expected);
  });
});

it("a chain is cut at some point, however long it is", () => {
  const links = Array.from({ length: 100 }, (_, i) => `c${i} - CNAME c${i + 1}`).join("\n");
  const [end, ...lines] = dig(createZoneView(writtenZone("example.org", links)), "c0.example.org", "A");
  expect([end, lines.length]).toEqual(["alias loop", 8]);
});

const owner = fc
  .array(fc.constantFrom("a", "b", "c", "*"), { minLength: 1, maxLength: 3 })
  .map((labels) => labels.join("."));
const line = fc.oneof(
  owner.map((name) => `${name} - A 192.0.2.1`),
  owner.map((name) => `${name} - A 192.0.2.2`),
  owner.map((name) => `${name} 60 TXT "x"`),
  fc.tuple(owner, owner).map(([name, target]) => `${name} - CNAME ${target}`),
  fc.tuple(owner, owner).map(([name, target]) => `${name} - NS ${target}`),
  fc.tuple(owner, owner).map(([name, target]) => `${name} - MX 10 ${target}`),
  fc.tuple(owner, owner).map(([name, target]) => `${name} - ${dnameTo(`${target}.example.org`)}`),
);
/** A name has one CNAME or other sets, as the rules for zones require. */
const lawful = (lines: readonly string[]): string => {
  const taken = new Map<string, string>();
  return lines
    .filter((each) => {
      const [name = "", , type = ""] = each.split(" ");
      const before = taken.get(name);
      taken.set(name, before ?? type);
      return before === undefined || (type !== "CNAME" && before !== "CNAME");
    })
    .join("\n");
};
const zoneLines = fc.array(line, { maxLength: 12 });
const zoneText = zoneLines.map(lawful);
/** Two zones that differ in about one line. */
const smallChange = fc
  .tuple(zoneLines, line, fc.boolean())
  .map(([lines, more, added]) => (added ? [lines, [...lines, more]] : [[...lines, more], lines]).map(lawful));
const question = fc.tuple(owner, fc.constantFrom<QuestionType>("A", "TXT", "NS", "MX", "CNAME", "ANY", undefined));

const setsOf = (text: string): readonly RRset[] => writtenSets("example.org", text);
const listed = (zone: ZoneView): string[] =>
  [...setsOfView(zone)].flatMap(({ name, set }) => printSets([{ name, ttl: set.ttl, set }])).sort();
const zoneOf = (text: string, serial = 1) => createZoneView(writtenZone("example.org", text, serial));

describe("laws", () => {
  it("a changed view answers like one built from the changed zone", () => {
    fc.assert(
      fc.property(zoneText, zoneText, fc.array(question, { maxLength: 20 }), (before, after, questions) => {
        const changed = zoneOf(before);
        changeZoneView(changed, 2, diffSets(setsOf(before), setsOf(after)));
        const made = zoneOf(after, 2);
        expect(listed(changed)).toEqual(listed(made));
        expect(changed.size).toBe(made.size);
        for (const [name, type] of questions) {
          // ANY may choose another set: the order of sets is not part of the zone.
          if (type === "ANY") continue;
          const sorted = (lines: string[]) => lines.toSorted();
          expect(sorted(dig(changed, `${name}.example.org`, type))).toEqual(
            sorted(dig(made, `${name}.example.org`, type)),
          );
        }
      }),
      runs(120),
    );
  });

  it("an answer that counts as still valid is the answer after the change", () => {
    fc.assert(
      fc.property(smallChange, question, fc.nat(20), ([before = "", after = ""], [anyName, type], pick) => {
        const name = before.split("\n")[pick]?.split(" ")[0] || anyName;
        const zone = zoneOf(before);
        const { delegationVersion, shapeVersion } = zone;
        const labels = labelsOf(`${name}.example.org`);
        const kept = answerQuestion(zone, labels, type);
        const shown = dig(zone, `${name}.example.org`, type);
        changeZoneView(zone, 2, diffSets(setsOf(before), setsOf(after)));
        const sets = [...kept.answer, ...kept.authority, ...kept.additional];
        const holds =
          sets.every(({ set }) => !isGone(set)) &&
          zone.delegationVersion === delegationVersion &&
          (!kept.dependsOnAbsence || zone.shapeVersion === shapeVersion);
        if (holds) expect(dig(zone, `${name}.example.org`, type)).toEqual(shown);
      }),
      runs(200),
    );
  });

  it("all missing names below the same encloser get the same answer", () => {
    fc.assert(
      fc.property(zoneText, owner, (text, name) => {
        const zone = zoneOf(text);
        const [one, other] = ["new1", "new2"].map((label) =>
          answerQuestion(zone, labelsOf(`${label}.${name}.example.org`), "A"),
        );
        expect(one?.kind).toBe(other?.kind);
      }),
    );
  });
});

describe("a change", () => {
  const answerOf = (zone: ZoneView, name: string, type: QuestionType) =>
    answerQuestion(zone, labelsOf(`${name}.example.org`), type);

  it("of one set leaves answers from other sets valid", () => {
    const zone = zoneOf("a - A 192.0.2.1\nb - A 192.0.2.2");
    const { delegationVersion } = zone;
    const [a, b, missing] = [answerOf(zone, "a", "A"), answerOf(zone, "b", "A"), answerOf(zone, "c", "A")];
    changeZoneView(zone, 2, diffSets(setsOf("a - A 192.0.2.1"), setsOf("a - A 192.0.2.9")));
    expect([a, b, missing].map((each) => [...each.answer, ...each.authority].some(({ set }) => isGone(set)))).toEqual([
      true,
      false,
      true,
    ]);
    expect([b.dependsOnAbsence, zone.delegationVersion]).toEqual([false, delegationVersion]);
  });

  it("that delegates a name's parent invalidates the answers for the name", () => {
    const zone = zoneOf("a.b - A 192.0.2.1");
    const { delegationVersion } = zone;
    const kept = answerOf(zone, "a.b", "A");
    changeZoneView(zone, 2, diffSets([], setsOf("b - NS ns.b")));
    expect([
      kept.dependsOnAbsence,
      kept.answer.some(({ set }) => isGone(set)),
      zone.delegationVersion === delegationVersion,
    ]).toEqual([false, false, false]);
    expect(answerOf(zone, "a.b", "A").kind).toBe("referral");
  });

  it("updates the serial of the SOA", () => {
    const zone = zoneOf("a - A 192.0.2.1");
    changeZoneView(zone, 7, []);
    expect(dig(zone, "example.org", "SOA")[1]).toContain(" 7 7200 ");
  });
});

it("a zone without an SOA has no view", () => {
  expect(() => createZoneView({ name: "example.org", ttl: 1, serial: 1, sets: [] })).toThrow("no SOA");
});
