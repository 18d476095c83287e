import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { recordTypes } from "../../../src/core/rdata/table.ts";
import { writtenAs } from "../../../test/rig/core/written-values.suite.ts";
import { problemOf } from "../../shared/live/request.ts";
import { previewImport } from "../zones/preview-import.ts";
import { filterSets, sortSets, takenTogether } from "./order-sets.ts";
import { checkDraft, draftOf, emptyDraft, hasNotes, meaningOf, readLabels, withPasted } from "./set-draft.ts";
import { shownValue } from "./shown-value.ts";
import { fieldsOf, joinValue, splitValue } from "./value-fields.ts";

/** The rules of the pages, tested without a browser. */

const zone = "example.org";
const set = (name: string, type: string, values: readonly string[], more: Partial<Rrset> = {}): Rrset => ({
  id: `${name}/${type}`,
  name,
  type,
  ttl: null,
  labels: {},
  protection: { change: false },
  zone: 1,
  records: values.map((value) => ({ value, comment: "" })),
  ...more,
});

describe("a value that is split into fields and joined again", () => {
  it.for(recordTypes)("means the same: %s", (type) => {
    fc.assert(
      fc.property(writtenAs(type), (value) => {
        const meant = parseRdata(type, value, zone);
        fc.pre(meant.ok);
        const again = parseRdata(type, joinValue(type, splitValue(type, value)), zone);
        expect(again.ok && meant.ok && again.value.text).toBe(meant.ok && meant.value.text);
      }),
      { numRuns: 60 },
    );
  });

  it.for([
    ['( "v=DKIM1; k=rsa; " "p=ABC" )', '"v=DKIM1; k=rsa; " "p=ABC"'],
    ['( "v=DKIM1; k=rsa; " "p=A\\"C" )  ; ----- DKIM key mail for example.org', '"v=DKIM1; k=rsa; " "p=A\\"C"'],
    ["(a remark)", '"(a remark)"'],
    ['( "a" b )', '"( \\"a\\" b )"'],
  ] as const)("accepts the strings of a zone file, also in parentheses: %s", ([typed, value]) => {
    expect(joinValue("TXT", [typed])).toBe(value);
  });

  it.for(['""', '"  "'])("shows an empty text visibly: %s", (value) => {
    expect(splitValue("TXT", value)).toEqual([value]);
  });

  it.for([
    ["NS", "Nameserver", "ns1.example.net."],
    ["PTR", "Host name", "host.example.org."],
    ["CNAME", "Target name", "www.example.org."],
    ["A", "IPv4 address", "192.0.2.10"],
  ] as const)("has the usual label: %s", ([type, label, example]) => {
    expect(fieldsOf(type)).toMatchObject([{ label, example }]);
  });

  it("splits a long text as DNS requires, and shows it whole", () => {
    const key = `v=DKIM1; p=${"A".repeat(700)}`;
    const value = joinValue("TXT", [key]);
    expect(parseRdata("TXT", value, zone).ok).toBe(true);
    expect(value.match(/"[^"]{255}"/g)).toHaveLength(2);
    expect(splitValue("TXT", value)).toEqual([key]);
  });
});

describe("a set in the form", () => {
  it("stays the same if nothing was edited", () => {
    const before = set("@", "MX", ["10 mail.example.org.", "20 mail2"], { ttl: 300, labels: { team: "ops" } });
    const { faults, change } = checkDraft(draftOf(before), zone, [before]);
    expect([...faults]).toEqual([]);
    expect(change).toEqual({ name: "@", type: "MX", ttl: 300, labels: { team: "ops" }, records: before.records });
  });

  it.for([
    ["a bad address", { texts: ["192.0.2.256"] }, "0.0"],
    ["a TTL that is too short", { ttl: "59" }, "ttl"],
    ["a name outside the zone", { name: "a..b" }, "name"],
    ["a name that ends with the zone's", { name: "www.Example.org" }, "name"],
  ] as const)("names the place of %s", ([, change, place]) => {
    const { texts = ["192.0.2.1"], ...rest } = change as { texts?: readonly string[] };
    const draft = {
      name: "www",
      type: "A",
      ttl: "",
      labels: "",
      values: [{ key: 0, texts, comment: "" }],
      ...rest,
    } as const;
    expect([...checkDraft(draft, zone, []).faults.keys()]).toEqual([place]);
  });

  it.for([
    ["MX", [], ["0.0", "0.1"]],
    ["MX", ["", "mail.example.org."], ["0.0"]],
    ["SRV", ["10", "", "5060", "sip.example.org."], ["0.1"]],
    ["CAA", ["0", "issue", ""], ["0.2"]],
    ["TXT", [], ["0.0"]],
    ["TXT", ["  "], ["0.0"]],
    ["TXT", ['""'], []],
  ] as const)("reports every empty field, and no other: %s %o", ([type, texts, places]) => {
    const draft = { name: "a", type, ttl: "", labels: "", values: [{ key: 0, texts, comment: "" }] };
    expect([...checkDraft(draft, zone, []).faults.keys()]).toEqual(places);
  });

  it("cannot exist next to an alias, by the service's own rule", () => {
    const draft = { ...draftOf(set("www", "A", ["192.0.2.1"])) };
    const { faults } = checkDraft(draft, zone, [set("www", "CNAME", ["example.org."])]);
    expect([...faults.keys()]).toEqual(["set"]);
  });

  it("cannot be an alias at the zone's own name, and the message does not ask to remove the SOA", () => {
    const there = [set("@", "SOA", ["ns1.example.net. h.example.net. 7 1 2 3 4"]), set("@", "A", ["192.0.2.1"])];
    const { faults } = checkDraft(draftOf(set("@", "CNAME", ["www.example.net."])), zone, there);
    expect([...faults.values()]).toEqual([
      "a CNAME is not allowed at the zone's own name, because the SOA record is there; use A and AAAA records there",
    ]);
  });

  it("accepts names in other scripts", () => {
    const draft = { ...draftOf(set("x", "A", ["192.0.2.1"])), name: "bücher" };
    expect(checkDraft(draft, zone, []).change?.name).toBe("xn--bcher-kva");
    const mail = {
      ...draftOf(set("@", "MX", ["10 x."])),
      values: [{ key: 0, texts: ["10", "Bücher.test."], comment: "" }],
    };
    expect(checkDraft(mail, zone, []).change?.records).toEqual([{ value: "10 xn--bcher-kva.test.", comment: "" }]);
  });

  it("says what a name without a final dot means", () => {
    expect(meaningOf("MX", ["10", "mail.example.org"], zone)).toBe("10 mail.example.org.example.org.");
    expect(meaningOf("MX", ["10", "mail.example.org."], zone)).toBeUndefined();
  });

  it("reads labels as people write them", () => {
    expect(readLabels(" team = ops,site=attic\nfree")).toEqual({ team: "ops", site: "attic", free: "" });
    expect(readLabels("note=a=b")).toEqual({ note: "a=b" });
  });
  it("has comment and labels unfolded only if one of them says something", () => {
    const empty = emptyDraft("A");
    expect(hasNotes(empty)).toBe(false);
    expect(hasNotes({ ...empty, values: [{ key: 0, texts: [], comment: " " }] })).toBe(false);
    expect(hasNotes({ ...empty, labels: "team=ops" })).toBe(true);
    expect(hasNotes({ ...empty, values: [...empty.values, { key: 1, texts: [], comment: "rack 4" }] })).toBe(true);
  });
});

describe("the name in the form", () => {
  const draft = { ...draftOf(set("www", "A", ["192.0.2.1"])), name: "  " };
  it("must be given; @ is the zone itself", () => {
    expect(checkDraft(draft, zone, [])).toEqual({
      faults: new Map([["name", "required; @ is the zone itself"]]),
      change: undefined,
    });
    expect(checkDraft({ ...draft, name: "@" }, zone, []).change?.name).toBe("@");
  });
});

describe("what an import would change", () => {
  const present = [
    set("@", "SOA", ["ns1.example.net. hostmaster.example.net. 7 1 2 3 4"]),
    set("@", "NS", ["ns1.example.net."]),
    set("www", "A", ["192.0.2.1"]),
    set("old", "A", ["192.0.2.2"], { labels: { a: "b" } }),
  ];

  const into = { name: zone, ttl: 3600, nameservers: ["ns1.example.net.", "ns2.example.net."] };

  it("is listed per set; the SOA and NS records stay if the file leaves them out", () => {
    const preview = previewImport("$TTL 60\nwww A 192.0.2.9\nnew TXT hello\n", into, present);
    expect(preview.faults).toEqual([]);
    expect(preview.changes.map(({ kind, name, type }) => `${kind} ${name} ${type}`).toSorted()).toEqual([
      "create new TXT",
      "delete old A",
      "replace www A",
    ]);
    expect(preview.notes).toHaveLength(3);
  });

  it("is nothing if the file has the same records, whatever its serial", () => {
    const same =
      "@ SOA ns1.example.net. hostmaster.example.net. 99 1 2 3 4\n@ NS ns1.example.net.\nwww A 192.0.2.1\nold A 192.0.2.2\n";
    expect(previewImport(same, into, present).changes).toEqual([]);
  });

  it("includes comments, which the file replaces", () => {
    const noted = present.map((set) => ({
      ...set,
      records: set.records.map((each) => ({ ...each, comment: "attic" })),
    }));
    const { changes } = previewImport("www A 192.0.2.1 ; cellar\nold A 192.0.2.2 ; attic\n", into, noted);
    expect(changes).toMatchObject([{ name: "www", before: "192.0.2.1 ; attic", after: "192.0.2.1 ; cellar" }]);
  });

  const foreign = `$TTL 300
@ 3600 SOA ns1.elsewhere.example. admin.elsewhere.example. (
  1 2 3 4 5 )
@ NS ns1.elsewhere.example.
@ NS ns2.elsewhere.example.
www A 192.0.2.9
sub NS ns1.elsewhere.example.
`;
  const listed = ({ changes }: ReturnType<typeof previewImport>) =>
    changes.map(({ kind, name, type }) => `${kind} ${name} ${type}`).toSorted();

  it.for(["replace", "merge"] as const)("keeps the service's SOA and nameservers by default: %s", (way) => {
    const preview = previewImport(foreign, into, present, way);
    expect([preview.faults, preview.hasOwn]).toEqual([[], true]);
    const gone = way === "replace" ? ["delete old A"] : [];
    expect(listed(preview)).toEqual(["create sub NS", ...gone, "replace www A"]);
  });

  it.for(["replace", "merge"] as const)("takes those of the file if asked to, and says what is lost: %s", (way) => {
    const preview = previewImport(foreign, into, present, way, "file");
    expect(preview.faults).toEqual([]);
    expect(listed(preview)).toEqual(expect.arrayContaining(["replace @ NS", "replace @ SOA"]));
    expect(preview.notes).toContain("The zone will no longer name this service’s ns1.example.net. as its nameserver.");
  });

  it("leaves SOA and nameservers of a new zone to the service by default", () => {
    const [kept, taken] = (["zone", "file"] as const).map((own) =>
      previewImport(foreign, { name: zone, ttl: undefined, nameservers: [] }, [], "replace", own),
    );
    expect([kept?.faults, taken?.faults]).toEqual([[], []]);
    expect(kept && listed(kept)).toEqual(["create sub NS", "create www A"]);
    expect(taken && listed(taken)).toHaveLength(4);
  });

  it.for(["replace", "merge"] as const)("has TTLs that are long enough for the service, and says so: %s", (way) => {
    const { changes, notes } = previewImport("$TTL 59\nwww 30 A 192.0.2.1\n", into, present, way);
    expect(changes).toMatchObject([...(way === "replace" ? [{ kind: "delete" }] : []), { after: "192.0.2.1, TTL 60" }]);
    expect(notes).toContain("TTLs below 60 seconds are raised to 60: the default, www A");
  });

  it("is not shown for a file with faults", () => {
    expect(previewImport("www A 1.2.3\n", into, present)).toMatchObject({
      faults: [expect.stringMatching(/^line 1: /)],
      changes: [],
    });
  });
});

describe("what the service refuses", () => {
  it.for([
    [
      { message: "name is too long", details: { fields: [{ name: "name", messages: ["is too long"] }] } },
      "name is too long",
    ],
    [
      {
        message: "it lacks a; it lacks b",
        details: { fields: [{ messages: ["it lacks a", "add a", "it lacks b", "add b"] }] },
      },
      "it lacks a; it lacks b; add a; add b",
    ],
    [{ message: "taken", details: { fields: [{ name: "name" }] } }, "taken"],
    [{ message: "not now", details: null }, "not now"],
  ] as const)("is shown with the advice: %o", async ([error, message]) => {
    expect((await problemOf(Response.json({ error }, { status: 422 }), "")).message).toBe(message);
  });
});

describe("lists", () => {
  const sets = [set("host10", "A", ["192.0.2.10"]), set("host9", "A", ["192.0.2.9"]), set("@", "TXT", ['"x"'])];

  it("have the zone itself first, and sort numbers as numbers", () => {
    expect(sortSets(sets, "name", false).map(({ name }) => name)).toEqual(["@", "host9", "host10"]);
    expect(sortSets(sets, "value", true).map(({ name }) => name)).toEqual(["host10", "host9", "@"]);
  });

  it("sort non-ASCII names where people look for them", () => {
    const names = ["xn--bcher-kva", "zoo", "abc", "cat"].map((name) => set(name, "A", ["192.0.2.1"]));
    expect(sortSets(names, "name", false).map(({ name }) => name)).toEqual(["abc", "xn--bcher-kva", "cat", "zoo"]);
  });

  it("are filtered by name, value and type", () => {
    expect(filterSets(sets, "2.10", "")).toHaveLength(1);
    expect(filterSets(sets, "HOST", "")).toHaveLength(2);
    expect(filterSets(sets, "", "TXT")).toHaveLength(1);
  });

  it("are taken together without the SOA record of the zone", () => {
    const soa = set("@", "SOA", ["ns1.example.net. hostmaster.example.org. 1 86400 10800 3600000 3600"]);
    expect(takenTogether([soa, ...sets])).toEqual(sets);
  });

  it("are filtered by a name in Unicode and in ASCII", () => {
    const street = [set("xn--strae-oqa", "A", ["192.0.2.1"])];
    for (const typed of ["straß", "STRAß", "raße", "xn--strae"]) expect(filterSets(street, typed, "")).toHaveLength(1);
    expect(filterSets(street, "strass", "")).toHaveLength(0);
  });
});

describe("a text with non-ASCII letters", () => {
  it.for([
    [String.raw`"Gr\195\188\195\159e \226\128\148 \"x\""`, String.raw`"Grüße — \"x\""`],
    [String.raw`"\\195\188"`, String.raw`"\\195\188"`],
    [String.raw`"\195"`, String.raw`"\195"`],
    [String.raw`"\226\128\174\194\160\194\133"`, String.raw`"\226\128\174\194\160\194\133"`],
    [String.raw`"\007\\"`, String.raw`"\007\\"`],
    [String.raw`a\.b.example.`, String.raw`a\.b.example.`],
  ])("is shown in Unicode if it is valid: %s", ([value = "", shown]) => {
    expect(shownValue(value)).toBe(shown);
  });

  it("is found in Unicode and in its escaped form", () => {
    const texts = [set("@", "TXT", [String.raw`"Gr\195\188\195\159e"`])];
    for (const typed of ["grüße", String.raw`gr\195`]) expect(filterSets(texts, typed, "")).toHaveLength(1);
  });
});

describe("a text that is pasted into a field of a record", () => {
  const texts = (type: string, pasted: string, values = ["192.0.2.1", "192.0.2.2"], replaces = true) =>
    withPasted(draftOf(set("www", type, values)), 0, pasted, replaces)?.values.map((value) => value.texts[0]);

  it.for(["192.0.2.7\n192.0.2.8\r\n", "192.0.2.7, 192.0.2.8", "192.0.2.7 192.0.2.8", " 192.0.2.7;192.0.2.8"])(
    "becomes several values if it has several addresses: %j",
    (pasted) => {
      expect(texts("A", pasted)).toEqual(["192.0.2.7", "192.0.2.8", "192.0.2.2"]);
      expect(texts("A", pasted, undefined, false)).toEqual(["192.0.2.1", "192.0.2.7", "192.0.2.8", "192.0.2.2"]);
    },
  );

  it("gives each value a separate key, and leaves the comment where it was", () => {
    const before = set("www", "AAAA", [], { records: [{ value: "2001:db8::1", comment: "attic" }] });
    const after = withPasted(draftOf(before), 0, "2001:db8::7 2001:db8::8 2001:db8::9", true);
    expect(after?.values.map(({ comment }) => comment)).toEqual(["attic", "", ""]);
    expect(new Set(after?.values.map(({ key }) => key)).size).toBe(3);
  });

  it.for([
    ["A", "192.0.2.7"],
    ["A", "www 300 IN A 192.0.2.7"],
    ["A", "192.0.2.7 2001:db8::1"],
    ["AAAA", "192.0.2.7 192.0.2.8"],
    ["TXT", "192.0.2.7 192.0.2.8"],
    ["CNAME", "a b"],
    ["A", ""],
  ] as const)("is left unchanged if it is anything else: %s %j", ([type, pasted]) => {
    expect(texts(type, pasted, [])).toBeUndefined();
  });
});
