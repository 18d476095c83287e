import { describe, expect, test } from "vitest";
import { checkZone } from "../records/check-zone.ts";
import { finish } from "../steps.ts";
import { parseZoneFile } from "./parse.ts";
import { placeInFile } from "./sets.ts";
import { findingZoneName } from "./zone-name.ts";

const zone = "example.org";

/** One line per record: owner, TTL or -, type, data, and the comment if any; or one line per fault. */
const read = (text: string, zoneName = zone): readonly string[] => {
  const file = parseZoneFile(text, zoneName);
  if (!file.ok) return file.faults.map((fault) => `${fault.code} at ${fault.where}`);
  return file.value.sets.flatMap(({ owner, ttl, type, records }) =>
    records.map(({ rdata, comment }) => `${owner} ${ttl ?? "-"} ${type} ${rdata}${comment && ` ;${comment}`}`),
  );
};

const file = (text: string) => {
  const parsed = parseZoneFile(text, zone);
  if (!parsed.ok) throw new Error(parsed.faults.map((fault) => fault.message).join("; "));
  return parsed.value;
};

test("reads the example of RFC 1035 section 5.3", () => {
  const text = `
@   IN  SOA     VENERA      Action\\.domains (
                                 20     ; SERIAL
                                 7200   ; REFRESH
                                 600    ; RETRY
                                 3600000; EXPIRE
                                 60)    ; MINIMUM

        NS      A.ISI.EDU.
        NS      VENERA
        NS      VAXA
        MX      10      VENERA
        MX      20      VAXA

A       A       26.3.0.103

VENERA  A       10.1.0.52
        A       128.9.0.32

VAXA    A       10.2.0.27
        A       128.9.0.33
`;
  expect(read(text, "isi.edu")).toEqual([
    "@ - SOA venera.isi.edu. action\\.domains.isi.edu. 20 7200 600 3600000 60 ;MINIMUM",
    "@ - NS a.isi.edu.",
    "@ - NS venera.isi.edu.",
    "@ - NS vaxa.isi.edu.",
    "@ - MX 10 venera.isi.edu.",
    "@ - MX 20 vaxa.isi.edu.",
    "a - A 26.3.0.103",
    "venera - A 10.1.0.52",
    "venera - A 128.9.0.32",
    "vaxa - A 10.2.0.27",
    "vaxa - A 128.9.0.33",
  ]);
});

test("reads the example of RFC 2308 section 4 and the file that v1's clients send", () => {
  expect(
    read(
      "$ORIGIN example.org.\n$TTL 86400\n@ IN SOA hydrogen.ns.hetzner.com. dns.hetzner.com. 1 86400 10800 3600000 3600\nwww 900 IN A 8.8.8.8\n",
    ),
  ).toEqual(["@ - SOA hydrogen.ns.hetzner.com. dns.hetzner.com. 1 86400 10800 3600000 3600", "www 900 A 8.8.8.8"]);
});

describe("lines", () => {
  test.each<[string, string, readonly string[]]>([
    ["an empty file", "", []],
    ["blanks and comments", "\n  \n; x\n\t; y\n()\n", []],
    ["no line break at the end", "a A 192.0.2.1", ["a - A 192.0.2.1"]],
    ["CRLF", "a A 192.0.2.1\r\n A 192.0.2.2\r\n", ["a - A 192.0.2.1", "a - A 192.0.2.2"]],
    ["a byte order mark", "\ufeffa A 192.0.2.1", ["a - A 192.0.2.1"]],
    ["tabs", "a\t\tIN\tA\t192.0.2.1", ["a - A 192.0.2.1"]],
    ["TTL, class", "a 5 IN A 192.0.2.1", ["a 5 A 192.0.2.1"]],
    ["class, TTL", "a in 5 a 192.0.2.1", ["a 5 A 192.0.2.1"]],
    ["class by number", "a CLASS1 A 192.0.2.1", ["a - A 192.0.2.1"]],
    ["a TTL with units", "a 1h30M A 192.0.2.1", ["a 5400 A 192.0.2.1"]],
    ["the highest TTL", "a 2147483647 A 192.0.2.1", ["a 2147483647 A 192.0.2.1"]],
    [
      "owners that look like other parts",
      "in A 192.0.2.1\n300 A 192.0.2.1\na A 192.0.2.1",
      ["in - A 192.0.2.1", "300 - A 192.0.2.1", "a - A 192.0.2.1"],
    ],
    ["an absolute owner", "A.Example.ORG. A 192.0.2.1", ["a - A 192.0.2.1"]],
    ["the zone's name without a trailing dot is relative", "example.org A 192.0.2.1", ["example.org - A 192.0.2.1"]],
    ["a wildcard", "*.a A 192.0.2.1", ["*.a - A 192.0.2.1"]],
    ["escapes in an owner", "a\\.b\\;c\\032 A 192.0.2.1", ["a\\.b\\;c\\032 - A 192.0.2.1"]],
    ["an escaped $ is not a directive", "\\$ttl A 192.0.2.1", ["\\$ttl - A 192.0.2.1"]],
    ["parentheses anywhere", "a ( IN\n A\n192.0.2.1 )", ["a - A 192.0.2.1"]],
    ["parentheses without blanks", "a TXT(x\ny)", ['a - TXT "x" "y"']],
    ["nested parentheses", "a TXT ( x ( y\n) z\n)", ['a - TXT "x" "y" "z"']],
    [
      "a line that begins inside parentheses has no owner",
      "a TXT (\nb\n)\n A 192.0.2.1",
      ['a - TXT "b"', "a - A 192.0.2.1"],
    ],
    ["quoted: nothing in it has a meaning", 'a TXT "x ; ( y" "@"', ['a - TXT "x ; ( y" "@"']],
    ["escaped: no comment", "a TXT x\\;y", ['a - TXT "x;y"']],
    ["a comment without a blank", "a A 192.0.2.1;hi", ["a - A 192.0.2.1 ;hi"]],
    ["a comment", "a A 192.0.2.1 ;  my ; server  \n; own line\n", ["a - A 192.0.2.1 ;my ; server"]],
    ["comments inside parentheses are not the record's", "a TXT ( x ; one\n) ; two", ['a - TXT "x" ;two']],
    ["parameters in quotes", 'a HTTPS 1 . alpn="h2,h3" port=443 ; x', ["a - HTTPS 1 . alpn=h2,h3 port=443 ;x"]],
    ["types without names", "a TYPE65280 \\# 3 ABCD ef", ["a - TYPE65280 \\# 3 abcdef"]],
    ["known types by number and as bytes", "a type1 \\# 4 c0000201", ["a - A 192.0.2.1"]],
    ["UTF-8 in a text", 'a TXT "ü"', ['a - TXT "\\195\\188"']],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("directives", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "$ORIGIN",
      "$ORIGIN sub.example.org.\n@ MX 1 @\nwww CNAME a",
      ["sub - MX 1 sub.example.org.", "www.sub - CNAME a.sub.example.org."],
    ],
    ["a relative $ORIGIN", "$origin a\n$ORIGIN b\nc A 192.0.2.1", ["c.b.a - A 192.0.2.1"]],
    ["an origin above the zone", "$ORIGIN org.\nexample NS ns.other", ["@ - NS ns.other.org."]],
    ["the root as origin", "$ORIGIN .\nexample.org NS ns.example", ["@ - NS ns.example."]],
    [
      "the previous owner stays when the origin changes",
      "a A 192.0.2.1\n$ORIGIN b\n TXT x",
      ["a - A 192.0.2.1", 'a - TXT "x"'],
    ],
    ["$TTL with units", "$TTL 1h ; hour\na A 192.0.2.1", ["a - A 192.0.2.1"]],
    ["directives after the records", "a A 192.0.2.1\n$TTL 60\n$ORIGIN example.org.", ["a - A 192.0.2.1"]],
    [
      "a second $TTL is written out",
      "$TTL 60\na A 192.0.2.1\n$TTL 90\nb A 192.0.2.1\n$TTL 60\nc A 192.0.2.1",
      ["a - A 192.0.2.1", "b 90 A 192.0.2.1", "c - A 192.0.2.1"],
    ],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("a comment with a mark is no record, also where an owner is inherited", () => {
    expect(read("a A 192.0.2.1\n; moor: a A protected\n A 192.0.2.2 ; moor: other")).toEqual([
      "a - A 192.0.2.1",
      "a - A 192.0.2.2 ;moor: other",
    ]);
    expect(finish(findingZoneName("; moor: zone protected\n$ORIGIN example.org.\n"))).toBe("example.org");
  });

  test("the first $TTL is the zone's", () => {
    expect(file("$TTL 1d\n$TTL 60\n").ttl).toBe(86_400);
    expect(file("a A 192.0.2.1").ttl).toBeUndefined();
  });
});

describe("sets", () => {
  test("duplicate records are merged, and keep a comment", () => {
    expect(read("a MX 10 b\na MX 10 B.example.org. ; mail\na MX 10 b ; other")).toEqual([
      "a - MX 10 b.example.org. ;mail",
    ]);
    const many = Array.from({ length: 40 }, (_, i) => `a A 192.0.2.${i % 20}`).join("\n");
    expect(read(many)).toHaveLength(20);
  });

  test.each<[string, string, string, readonly string[]]>([
    ["two TTLs", "a 60 A 192.0.2.1\na 30 A 192.0.2.2", "30", ["mixed-ttl at line 2"]],
    ["the default is lower", "$TTL 10\na A 192.0.2.1\na 30 A 192.0.2.2", "-", ["mixed-ttl at line 3"]],
    ["the default is higher", "$TTL 99\na A 192.0.2.1\na 30 A 192.0.2.2\na A 192.0.2.2", "30", ["mixed-ttl at line 3"]],
    ["the default is the same", "$TTL 30\na A 192.0.2.1\na 30 A 192.0.2.2", "30", []],
    ["one TTL", "a 30 A 192.0.2.1\na 30 A 192.0.2.2", "30", []],
    ["TTLs of two types", "a 30 A 192.0.2.1\na 60 TXT x", "30", []],
  ])("%s", (_, text, ttl, notes) => {
    const { sets, notes: given } = file(text);
    expect(String(sets[0]?.ttl ?? "-")).toBe(ttl);
    expect(given.map((note) => `${note.code} at ${note.where}`)).toEqual(notes);
  });

  test("without $TTL a record takes the TTL of the record before (RFC 1035), with one note", () => {
    const { sets, notes } = file("a TXT x\nb 300 TXT x\nc TXT x\nd TXT x");
    expect(sets.map((set) => set.ttl)).toEqual([null, 300, 300, 300]);
    expect(notes).toEqual([
      {
        code: "last-ttl-taken",
        where: "line 3",
        message:
          "the file has no $TTL, so from here on a record without a TTL gets the TTL of the record before it, here 300",
      },
    ]);
  });

  test("a note says how the line was read", () => {
    expect(file("www 600 A 192.0.2.1\nwww 300 A 192.0.2.2").notes[0]?.message).toBe(
      "the records of www A have different TTLs; all get the lowest one, 300",
    );
  });
});

describe("values as written", () => {
  test.each([
    ["a MX 10 Mail", "10 Mail"],
    ["a MX ( 10\n Mail ; x\n)", "10 Mail"],
    ['a CAA 0 issue "ca;x"', '0 issue "ca;x"'],
    ["a TXT x y\\;z", '"x" "y\\;z"'],
    ['a TXT "ü"', '"ü"'],
    ["a TXT \\# 2 0161", '"a"'],
    ["a TYPE65280 \\# 1 AB", "\\# 1 AB"],
    ["$ORIGIN sub\na MX 10 mail", "10 mail.sub.example.org."],
    ["$ORIGIN Example.Org.\na MX 10 mail", "10 mail"],
  ])("%s", (text, value) => {
    expect(file(text).sets[0]?.records[0]?.value).toBe(value);
  });
});

describe("faults", () => {
  test.each<[string, string, readonly string[]]>([
    ["$INCLUDE", "$INCLUDE other.zone\n$include x y", ["directive-refused at line 1", "directive-refused at line 2"]],
    ["another directive", "$GENERATE 1-9 a$ A 192.0.2.$", ["directive-refused at line 1"]],
    [
      "a directive without a value",
      "$TTL\n$ORIGIN\n$TTL 1 2",
      ["bad-directive at line 1", "bad-directive at line 2", "bad-directive at line 3"],
    ],
    [
      "bad directives",
      "$TTL 1y\n$TTL 2147483648\n$ORIGIN a..b.",
      ["bad-ttl at line 1", "bad-ttl at line 2", "empty-label at line 3"],
    ],
    [
      "an owner outside of the zone, reported once",
      "a A 192.0.2.1\nb.example.net. A 192.0.2.1\n A 192.0.2.2\n MX x",
      ["out-of-zone at line 2", "bad-number at line 4", "missing-field at line 4"],
    ],
    ["below the origin, but not in the zone", "$ORIGIN net.\na A 192.0.2.1", ["out-of-zone at line 2"]],
    ["no owner", " A 192.0.2.1\n A 192.0.2.2\n", ["missing-owner at line 1"]],
    ["a quoted owner", '"a" A 192.0.2.1', ["bad-quotes at line 1"]],
    ["a name in Unicode", "ü A 192.0.2.1", ["bad-character at line 1"]],
    ["no type", "a\na 5 IN", ["missing-type at line 1", "missing-type at line 2"]],
    ["other classes", "a CH TXT x\na class3 TXT x", ["bad-class at line 1", "bad-class at line 2"]],
    [
      "unknown types",
      'a NOPE x\na TYPE255 \\# 0\na IN IN A 192.0.2.1\na 1 2 A 192.0.2.1\na "A" 192.0.2.1',
      [
        "unknown-type at line 1",
        "unknown-type at line 2",
        "unknown-type at line 3",
        "unknown-type at line 4",
        "unknown-type at line 5",
      ],
    ],
    [
      "every fault before the data",
      "a 1y HS NOPE",
      ["bad-ttl at line 1", "bad-class at line 1", "unknown-type at line 1"],
    ],
    ["an open quote", 'a TXT "x\nb TXT "y"\nc A x', ["bad-quotes at line 1", "bad-ipv4 at line 3"]],
    ["a quote in a word", 'a TXT x"y"', ["bad-quotes at line 1"]],
    ["a closing parenthesis", "a TXT x )\nb A x", ["bad-parentheses at line 1", "bad-ipv4 at line 2"]],
    ["an open parenthesis", "a A x\nb TXT (\nc\nd A x", ["bad-ipv4 at line 1", "bad-parentheses at line 2"]],
    ["a record over many lines is reported at its first line", "\na (\nA\n300 )\n", ["bad-ipv4 at line 2"]],
    [
      "NUL, and a carriage return inside a line",
      "a TXT x\0y\nb TXT x\ry",
      ["bad-character at line 1", "bad-character at line 2"],
    ],
    [
      "all of a file's",
      "$TTL x\na A 1\nb A 192.0.2.1\nc MX 1\n",
      ["bad-ttl at line 1", "bad-ipv4 at line 2", "missing-field at line 4"],
    ],
    [
      "sets that cannot coexist, in addition to other faults",
      "a A 1\nb CNAME c\nb A 192.0.2.1\nd CNAME e\nd CNAME f\n",
      ["bad-ipv4 at line 1", "cname-and-other at line 2", "cname-and-other at line 4"],
    ],
    [
      "marks that cannot be read, or have no set",
      "; moor: www A labels a\u0000b=c\n;moor: zone guarded\n; moor: a A locked\n;moor: a A labels .=x\n; moor: zone labels hetzner.cloud/x=1\n; moor: a A signed\na A 192.0.2.1",
      [
        "bad-character at line 1",
        "bad-mark at line 2",
        "bad-mark at line 3",
        "bad-input at line 4",
        "bad-input at line 5",
        "bad-mark at line 6",
      ],
    ],
    [
      "marks of sets that are not in the file",
      "; moor: a A protected\na AAAA ::1\n; moor: zone A protected\n",
      ["mark-without-set at line 1", "mark-without-set at line 3"],
    ],
    ["no clash is reported after a bad origin", "b A 192.0.2.1\n$ORIGIN x..y\nb CNAME c", ["empty-label at line 2"]],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("each says what is wrong with which part, and what to do", () => {
    expect(parseZoneFile("a MX x mail", zone)).toEqual({
      ok: false,
      faults: [
        {
          code: "bad-number",
          where: "line 1",
          message: "MX preference: this must be a whole number from 0 to 65535",
          todo: "an MX record takes a priority and a mail server, such as 10 mail.example.org.",
        },
      ],
    });
    const faulty = parseZoneFile('$TTL x\n$X\na "\nb..c A x\n A\nd CH NOPE\n)\n(', zone);
    for (const fault of faulty.ok ? [] : faulty.faults) expect(fault.todo).toMatch(/\w/);
  });

  test("faults of the zone's check get the lines of the sets", () => {
    const { sets } = file("@ SOA a. b. 1 2 3 4 5\na TXT x\na CNAME b\n@ A 192.0.2.1");
    const times = { id: "", name: "", created: 0, modified: 0 };
    const rrsets = sets.map((set) => ({ ...set, records: set.records.map((record) => ({ ...record, ...times })) }));
    expect(placeInFile(checkZone(rrsets), sets)).toMatchObject([{ code: "cname-and-other", where: "line 3" }]);
    expect(placeInFile(checkZone([]), [])).toMatchObject([{ code: "soa-missing", where: "@ SOA" }]);
  });
});
