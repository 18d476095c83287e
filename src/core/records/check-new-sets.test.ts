import { describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import type { RecordType } from "../rdata/table.ts";
import { checkEdit, checkNewSets } from "./check-new-sets.ts";

const set = (owner: string, type: RecordType, values: readonly string[] = []) => ({
  owner,
  type,
  records: values.map((rdata) => ({ rdata })),
});
const many = (count: number, value: (i: number) => string) => Array.from({ length: count }, (_, i) => value(i));

describe("a set that is too large for a DNS message", () => {
  const addresses = (count: number) => many(count, (i) => `10.0.${i >> 8}.${i & 255}`);
  const ofSize = (count: number) => set("www", "A", addresses(count));
  const codes = (before: readonly number[], after: number) =>
    checkNewSets(before.map(ofSize), [ofSize(after)]).map(({ code, where }) => `${code} ${where}`);

  it("is refused", () => {
    expect(codes([], 4_000)).toEqual([]);
    expect(codes([], 5_000)).toEqual(["set-too-large www A"]);
    expect(codes([4_000], 5_000)).toEqual(["set-too-large www A"]);
  });

  it("is refused even with fewer records than before, if it was small enough then", () => {
    const texts = (count: number, length: number) => {
      const values = many(count, (i) => `"${i}${"x".repeat(length)}"`);
      return set("www", "TXT", values);
    };
    expect(checkNewSets([texts(500, 9)], [texts(400, 200)]).map(({ code }) => code)).toEqual(["set-too-large"]);
  });

  it("that already exists may stay or shrink, but not grow", () => {
    expect(codes([5_000], 4_999)).toEqual([]);
    expect(codes([5_000], 5_000)).toEqual([]);
    expect(codes([5_000], 5_001)).toEqual(["set-too-large www A"]);
  });
});

describe("an NS record at a wildcard name", () => {
  const place = (owner: string, type: RecordType = "NS") => set(owner, type);
  const refused = (...[before, wanted]: Parameters<typeof checkNewSets>) =>
    checkNewSets(before, wanted).map(({ where }) => where);

  it.each(["*", "*.w", "*.a.b"])("is refused: %s", (owner) => {
    expect(refused([], [place(owner), place("www")])).toEqual([`${owner} NS`]);
    expect(refused([place(owner, "A")], [place(owner)])).toEqual([`${owner} NS`]);
  });

  it("may stay if it already exists", () => {
    expect(refused([place("*.w")], [place("*.w"), place("*.v")])).toEqual(["*.v NS"]);
  });

  it.each([
    ["*.w", "A"],
    ["@", "NS"],
    ["a.*.w", "NS"],
    ["*w", "NS"],
  ] as const)("is not the same as %s %s, which is accepted", (owner, type) => {
    expect(refused([], [place(owner, type)])).toEqual([]);
  });
});

describe("a second DNAME record at a name", () => {
  const targets = (count: number) => many(count, (i) => `\\# 3 01${61 + i}00`);
  const dnames = (count: number) => set("d", "TYPE39", targets(count));
  const refused = (before: readonly number[], after: number) =>
    checkNewSets(before.map(dnames), [dnames(after)]).map(({ code, where }) => `${code} ${where}`);

  it("is refused", () => {
    expect(refused([], 1)).toEqual([]);
    expect(refused([], 2)).toEqual(["dname-single d TYPE39"]);
    expect(refused([1], 2)).toEqual(["dname-single d TYPE39"]);
  });

  it("that already exists may stay or be removed, but none may be added", () => {
    expect(refused([3], 3)).toEqual([]);
    expect(refused([3], 2)).toEqual([]);
    expect(refused([2], 3)).toEqual(["dname-single d TYPE39"]);
  });
});

describe("a record that cannot work", () => {
  const refused = (before: readonly string[], type: RecordType, ...wanted: readonly string[]) =>
    checkNewSets([set("www", type, before)], [set("www", type, wanted)]).map(({ code, where }) => `${code} ${where}`);

  it.each([
    ["CAA", '0 isue "ca.example"', "caa-unknown-tag www CAA"],
    ["CAA", '128 tbs "x"', "caa-unknown-tag www CAA"],
    ["MX", "10 192.0.2.1.", "address-for-name www MX"],
    ["NS", "192.0.2.1.", "address-for-name www NS"],
    ["NS", "2001:db8::1.", "address-for-name www NS"],
    ["SRV", "0 0 443 192.0.2.1.", "address-for-name www SRV"],
    ["CNAME", "192.0.2.1.", "address-for-name www CNAME"],
    ["PTR", "192.0.2.1.", "address-for-name www PTR"],
  ] as const)("%s %s is refused where it is new, and may stay where it is already", (type, rdata, fault) => {
    expect(refused([], type, rdata)).toEqual([fault]);
    expect(refused([rdata], type, rdata)).toEqual([]);
  });

  it.each([
    ["CAA", '0 issue "ca.example"'],
    ["CAA", '0 issuewild ";"'],
    ["CAA", '128 iodef "mailto:a@example.org"'],
    ["CAA", '0 issuemail "ca.example"'],
    ["CAA", '0 contactemail "a@example.org"'],
    ["MX", "0 ."],
    ["MX", "10 192.0.2.1.example.org."],
    ["PTR", "1.2.0.192.in-addr.arpa."],
    ["SRV", "0 0 0 ."],
    ["NS", "ns1.example."],
  ] as const)("%s %s is accepted", (type, rdata) => {
    expect(refused([], type, rdata)).toEqual([]);
  });
});

describe("what other nameservers refuse a whole zone for", () => {
  const refused = (...given: Parameters<typeof checkNewSets>) =>
    checkNewSets(...given).map(({ code, where }) => `${code} ${where}`);
  const target = "\\# 3 016100";

  it("is refused if it is new: data that is not valid for its type", () => {
    const bad = set("www", "TYPE44", ["\\# 0", "\\# 4 01010000"]);
    expect(refused([], [bad])).toEqual(["bad-data www TYPE44", "bad-data www TYPE44"]);
    expect(refused([set("www", "TYPE44", ["\\# 0"])], [bad])).toEqual(["bad-data www TYPE44"]);
    expect(refused([], [set("www", "TYPE65280", ["\\# 0"]), set("d", "TYPE39", [target])])).toEqual([]);
    expect(checkNewSets([], [bad])[0]?.message).toContain("SSHFP (TYPE44)");
  });

  it("is refused if it is new: a DS record at the apex", () => {
    const [ds, below] = [set("@", "DS"), set("sub", "DS")];
    expect(refused([], [ds, below])).toEqual(["ds-at-apex @ DS"]);
    expect(refused([ds], [ds])).toEqual([]);
  });

  it("is refused if it is new: NS beside DNAME, and names below one", () => {
    const dname = (owner: string) => set(owner, "TYPE39", [target]);
    const [ns, below] = [set("d", "NS"), set("a.b.d", "A")];
    expect(refused([], [dname("d"), ns, below, set("dd", "A"), set("d", "A")])).toEqual([
      "ns-beside-dname d NS",
      "below-dname a.b.d A",
    ]);
    expect(refused([], [dname("@"), set("@", "NS"), below])).toEqual(["below-dname a.b.d A"]);
    expect(refused([dname("d"), ns, below], [dname("d"), ns, below])).toEqual([]);
    expect(refused([ns, below], [dname("d"), ns, below])).toEqual(["ns-beside-dname d NS", "below-dname a.b.d A"]);
  });

  it("is refused if one of them stood there already, and another write adds the other", () => {
    const dname = (owner: string) => set(owner, "TYPE39", [target]);
    const stored = ["d", "a.b.d", "x.y", "e\\.z"];
    const storedWith = (withDname: string) => ({
      hasDname: (owner: string) => owner === withDname,
      endingWith: (owner: string) => stored.filter((name) => owner === "@" || name.endsWith(`.${owner}`)),
    });
    const below = set("a.b.d", "A");
    expect(refused([], [below], storedWith("d"))).toEqual(["below-dname a.b.d A"]);
    expect(refused([], [set("www", "A")], storedWith("@"))).toEqual(["below-dname www A"]);
    expect(refused([], [set("@", "TXT"), set("d", "A"), set("dd", "A")], storedWith("d"))).toEqual([]);
    expect(refused([below], [below], storedWith("d"))).toEqual([]);
    // The write removes one of them.
    expect(refused([dname("d")], [below], storedWith("d"))).toEqual([]);
    expect(refused([set("x.y", "A")], [dname("y")], storedWith("none"))).toEqual([]);
    expect(refused([], [dname("y")], storedWith("none"))).toEqual(["below-dname y TYPE39"]);
    expect(refused([], [dname("@")], storedWith("none"))).toEqual(["below-dname @ TYPE39"]);
    expect(refused([dname("y")], [dname("y")], storedWith("y"))).toEqual([]);
    expect(refused([], [dname("z")], storedWith("none"))).toEqual([]);
    const two = [dname("y"), dname("c"), dname("b.d"), dname("z")];
    expect(refused([], two, storedWith("none"))).toEqual(["below-dname b.d TYPE39", "below-dname y TYPE39"]);
  });

  it("is compared with each stored name once, however many DNAME sets a write adds", () => {
    let read = 0;
    function* endingWith(): Generator<string> {
      for (let i = 0; i < 100; i++, read++) yield `other${i}`;
    }
    const many = Array.from({ length: 100 }, (_, i) => set(`d${i}`, "TYPE39", [target]));
    expect(refused([], many, { hasDname: () => false, endingWith })).toEqual([]);
    expect(read).toBe(100);
  });
});

describe("an edit", () => {
  const addresses = (count: number) =>
    writtenSets("example.org", Array.from({ length: count }, (_, i) => `www - A 10.0.${i >> 8}.${i & 255}`).join("\n"));
  it.each<[number, number, boolean]>([
    [0, 100, true],
    [0, 101, false],
    [100, 101, false],
    [300, 300, true],
    [300, 200, true],
    [300, 301, false],
  ])("of a set with %i values that leaves %i", (before, after, passes) =>
    expect(checkEdit(addresses(before), addresses(after)).map(({ code }) => code)).toEqual(
      passes ? [] : ["too-many-values"],
    ),
  );

  it.each<[number, number, number, boolean]>([
    [2, 0, 2, true],
    [2, 0, 3, false],
    [2, 5, 4, true],
    [300, 100, 300, true],
    [300, 100, 301, false],
  ])("with a limit of %i, of a set with %i values that leaves %i", (most, before, after, passes) =>
    expect(checkEdit(addresses(before), addresses(after), most).map(({ message }) => message)).toEqual(
      passes ? [] : [`the A set at www would have ${after} values; at most ${most} are allowed`],
    ),
  );

  it.each(["TYPE46", "TYPE47", "TYPE50", "TYPE51"])(
    "cannot write %s, but what is there may stay or become less",
    (type) => {
      const one = writtenSets("example.org", `www - ${type} \\# 1 00`);
      const two = writtenSets("example.org", `www - ${type} \\# 1 00\nwww - ${type} \\# 1 01`);
      expect(checkEdit([], one).map(({ code }) => code)).toEqual(["made-by-signing"]);
      expect(checkEdit(one, two).map(({ code }) => code)).toEqual(["made-by-signing"]);
      expect(checkEdit(two, one)).toEqual([]);
      expect(checkEdit(two, two)).toEqual([]);
    },
  );
});
