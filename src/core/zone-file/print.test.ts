import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../../test/rig/any-text.ts";
import { writtenAs } from "../../../test/rig/core/written-values.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import type { Labels } from "../labels.ts";
import { parseRdata } from "../rdata/rdata.ts";
import { type RecordType, recordTypes } from "../rdata/table.ts";
import { finish } from "../steps.ts";
import { onOneLine } from "../visible-text.ts";
import { parseZoneFile } from "./parse.ts";
import { type PrintableSet, type PrintableZone, printingZoneFile, type ZoneFileLayout } from "./print.ts";

const printZoneFile = (zone: PrintableZone, layout: ZoneFileLayout) => finish(printingZoneFile(zone, layout));

const zone: PrintableZone = {
  name: "example.org",
  ttl: 86_400,
  sets: [
    { owner: "www", type: "A", ttl: 900, records: [{ rdata: "8.8.8.8", comment: "" }] },
    {
      owner: "@",
      type: "NS",
      ttl: null,
      records: [
        { rdata: "ns1.example.org.", comment: "first\r\n one " },
        { rdata: "ns2.example.org.", comment: "" },
      ],
    },
    { owner: "a", type: "A", ttl: 0, records: [{ rdata: "192.0.2.1", comment: "" }] },
    { owner: "@", type: "A", ttl: null, records: [{ rdata: "192.0.2.2", comment: "" }] },
    { owner: "@", type: "SOA", ttl: null, records: [{ rdata: "ns1. me. 1 2 3 4 5", comment: "" }] },
  ],
};

/** What DNS servers, Python's splitlines, JavaScript and terminals treat as line breaks. */
const breaks = [
  "\n",
  "\r",
  "\r\n",
  "\v",
  "\f",
  "\x1c",
  "\x1d",
  "\x1e",
  "\x85",
  "\u2028",
  "\u2029",
  "\0",
  "\x1b[2K",
  "\x7f",
];

test.each(breaks)("a comment with %j stays on one line for every parser", (sign) => {
  const hostile = `x${sign}evil\tIN\tA\t192.0.2.66${sign}`;
  const records = [{ rdata: "192.0.2.1", comment: hostile }];
  for (const layout of ["v1", "rrsets"] as const) {
    const text = printZoneFile({ ...zone, sets: [{ owner: "www", type: "A", ttl: null, records }] }, layout);
    expect(text.split(/[^\P{Control}\t]|[\u2028\u2029]/u).filter((line) => line.includes("evil"))).toEqual([
      expect.stringMatching(/192\.0\.2\.1 ; x/),
    ]);
    expect(text).not.toContain(sign === "\n" ? "\nevil" : sign);
    const read = parseZoneFile(text, zone.name);
    expect(read.ok && read.value.sets.flatMap((set) => set.records)).toHaveLength(1);
  }
});

test("prints the layout of v1", () => {
  expect(printZoneFile(zone, "v1")).toBe(
    [
      "$ORIGIN example.org.",
      "$TTL 86400",
      "; SOA Records",
      "@\t\tIN\tSOA\tns1. me. 1 2 3 4 5",
      "; NS Records",
      "@\t\tIN\tNS\tns1.example.org. ; first  one",
      "@\t\tIN\tNS\tns2.example.org.",
      "; A Records",
      "@\t\tIN\tA\t192.0.2.2",
      "a\t0\tIN\tA\t192.0.2.1",
      "www\t900\tIN\tA\t8.8.8.8",
      "",
    ].join("\n"),
  );
});

test("prints the layout of rrsets", () => {
  expect(printZoneFile(zone, "rrsets")).toBe(
    [
      "$ORIGIN\texample.org.",
      "$TTL\t86400",
      "",
      "@\tIN\tSOA\tns1. me. 1 2 3 4 5",
      "",
      "@\tIN\tNS\tns1.example.org. ; first  one",
      "@\tIN\tNS\tns2.example.org.",
      "@\tIN\tA\t192.0.2.2",
      "a\tIN\t0\tA\t192.0.2.1",
      "www\tIN\t900\tA\t8.8.8.8",
      "",
    ].join("\n"),
  );
});

test("prints labels and protection as comments in front of what they are about", () => {
  const sets = [{ ...zone.sets[0], labels: { team: "web", owner: "anna" }, locked: true }] as PrintableSet[];
  const text = printZoneFile({ ...zone, labels: { env: "" }, locked: true, signed: true, sets }, "marked");
  expect(text).toBe(
    [
      "$ORIGIN\texample.org.",
      "$TTL\t86400",
      "; moor: zone labels env=",
      "; moor: zone protected",
      "; moor: zone signed",
      "",
      "; moor: www A labels owner=anna team=web",
      "; moor: www A protected",
      "www\tIN\t900\tA\t8.8.8.8",
      "",
    ].join("\n"),
  );
});

const owner = fc.constantFrom(
  "zone",
  "@",
  "*",
  "www",
  "in",
  "300",
  "a.b",
  "\\$ttl",
  "\\@",
  "a\\.b\\;c",
  "\\000\\255",
  '\\(x\\"',
);
const ttl = fc.option(fc.integer({ min: 0, max: 2_147_483_647 }));
const comment = fc.oneof(fc.constant(""), fc.string({ unit: "grapheme" }), fc.constantFrom("; (", '"', "$TTL", "\\"));
const oneLine = comment.map(onOneLine);

const canonical = (type: RecordType, text: string): string => {
  const rdata = parseRdata(type, text, "example.org");
  if (!rdata.ok) throw new Error(`${type} ${text}`);
  return rdata.value.text;
};

const labels = fc.dictionary(
  fc.stringMatching(/^(?:ex\.org\/)?[A-Za-z0-9]{1,5}$/),
  fc.stringMatching(/^(?:[a-z0-9._-]{0,4}[a-z0-9])?$/).filter((text) => !/^[-._]/.test(text)),
  { maxKeys: 3 },
);

const set: fc.Arbitrary<PrintableSet> = fc.constantFrom<RecordType>(...recordTypes, "TYPE65280").chain((type) =>
  fc.record({
    owner,
    type: fc.constant(type),
    ttl,
    labels: labels,
    locked: fc.boolean(),
    records: fc.uniqueArray(
      fc.record({ rdata: writtenAs(type).map((text) => canonical(type, text)), comment: oneLine }),
      { minLength: 1, maxLength: 3, selector: (record) => record.rdata },
    ),
  }),
);

const zones: fc.Arbitrary<PrintableZone> = fc.record({
  name: fc.constant("example.org"),
  ttl: fc.integer({ min: 0, max: 2_147_483_647 }),
  labels,
  locked: fc.boolean(),
  signed: fc.boolean(),
  sets: fc.uniqueArray(set, { maxLength: 8, selector: (each) => `${each.owner} ${each.type}` }),
});

type Marked = { readonly labels?: Labels; readonly locked?: boolean; readonly signed?: boolean };

/** Every mark, also those that are not there. */
const marksOf = ({ labels: given = {}, locked = false, signed = false }: Marked) => ({
  // Their order makes no difference.
  labels: Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ...{ locked, signed },
});

/** The marks of a zone and its sets. */
const marked = (marks: Marked, { sets }: { readonly sets: readonly PrintableSet[] }) => [
  marksOf(marks),
  sets.map((each) => JSON.stringify([each.owner, each.type, marksOf(each)])).toSorted(),
];

/** What a zone contains, sorted, because the order makes no difference. */
const content = ({ sets }: { readonly sets: readonly PrintableSet[] }) =>
  sets
    .flatMap((each) =>
      each.records.map((record) => JSON.stringify([each.owner, each.type, each.ttl, record.rdata, record.comment])),
    )
    .toSorted();

describe.each<ZoneFileLayout>(["v1", "rrsets", "marked"])("laws of %s", (layout) => {
  test("printed text parses to the same zone, and prints the same again", () => {
    fc.assert(
      fc.property(zones, (given) => {
        const text = printZoneFile(given, layout);
        const file = parseZoneFile(text, given.name);
        if (!file.ok) throw new Error(JSON.stringify(file.faults));
        expect(file.value.ttl).toBe(given.ttl);
        expect(file.value.notes).toEqual([]);
        expect(content(file.value)).toEqual(content(given));
        expect(printZoneFile({ ...given, ...file.value.marks, sets: file.value.sets }, layout)).toBe(text);
        const without = { sets: given.sets.map(({ labels: _, locked: __, ...each }) => each) };
        const expected = layout === "marked" ? marked(given, given) : marked({}, without);
        expect(marked(file.value.marks, file.value)).toEqual(expected);
      }),
      runs(50),
    );
  });

  test("values as written mean the same as the stored ones", () => {
    fc.assert(
      fc.property(zones, (given) => {
        const file = parseZoneFile(printZoneFile(given, layout), given.name);
        for (const { type, records } of file.ok ? file.value.sets : [])
          for (const { value, rdata } of records) expect(canonical(type, value)).toBe(rdata);
      }),
      runs(50),
    );
  });
});

test("any text is parsed or refused, without throwing; parsed text survives a round trip", () => {
  const piece = fc.constantFrom(
    "$TTL ",
    "$ORIGIN ",
    "a",
    "@",
    " ",
    "\t",
    "\n",
    "\r\n",
    "(",
    ")",
    ";",
    '"',
    "\\",
    "IN ",
    "A ",
    "TXT ",
    "192.0.2.1",
    "300 ",
    "\\# 1 ab",
    ".",
  );
  const text = fc.oneof(
    fc.array(piece).map((pieces) => pieces.join("")),
    fc.string({ unit: anyCharacter }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const file = parseZoneFile(given, "example.org");
      if (!file.ok) {
        expect(file.faults.length).toBeGreaterThan(0);
        return;
      }
      const whole = { name: "example.org", ttl: file.value.ttl ?? 1, sets: file.value.sets };
      const again = parseZoneFile(printZoneFile(whole, "v1"), "example.org");
      expect(again.ok && content(again.value)).toEqual(content(file.value));
    }),
    runs(150),
  );
});
