import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { parse, stringify } from "yaml";
import { runs } from "../../../test/rig/long-run.ts";
import { editNames, type NamesChange, type SettingValue, setSetting } from "./edit-names.ts";

const set = (index: number, key: string, value: SettingValue | undefined, inner?: string): NamesChange => ({
  kind: "set",
  index,
  settings: [{ path: inner === undefined ? [key] : [key, inner], value }],
});
const add = (entry: Readonly<Record<string, SettingValue>>): NamesChange => ({
  kind: "add",
  settings: Object.entries(entry).map(([key, value]) => ({ path: [key], value })),
});
const nas = add({ name: "nas", zone: "example.org", ipv6: ["igb0", "igb1"] });

const block = `# mine
names:   # all of them
  # the house
  - name: home   # first
    zone: "example.org"
    ttl: 60 # short
    ipv4:
      interface: pppoe0 # the line
      vhid: 1

  - {name: two,   zone: 'example.org', ipv4: true, ttl: 60}
  # - { name: off }
interval:    30s
`;
const without = (line: string) => block.replace(line, "");

/** The text before, the change, the text after. */
test.each<[string, string, NamesChange, string]>([
  [
    "adds an entry after the last, in its style",
    block,
    nas,
    block.replace("ttl: 60}\n", "ttl: 60}\n  - { name: nas, zone: example.org, ipv6: [igb0, igb1] }\n"),
  ],
  [
    "adds a block entry after a block entry",
    "names:\n- name: a\n  zone: b\nx: 1\n",
    nas,
    "names:\n- name: a\n  zone: b\n- name: nas\n  zone: example.org\n  ipv6: [igb0, igb1]\nx: 1\n",
  ],
  [
    "adds to a list in brackets",
    "names: [{ name: a }] # c\n",
    add({ name: "b" }),
    "names: [{ name: a }, { name: b }] # c\n",
  ],
  [
    "adds to a list in brackets with a line for each",
    "names: [\n  { name: a }, # c\n]\n",
    add({ name: "b" }),
    "names: [\n  { name: a },\n  { name: b }, # c\n]\n",
  ],
  ["adds to an empty list", "names: [] # none\nx: 1\n", add({ name: "b" }), "names: # none\n  - name: b\nx: 1\n"],
  ["adds where nothing follows the key", "names: # none\nx: 1", add({ name: "b" }), "names: # none\n  - name: b\nx: 1"],
  ["adds the list itself", "x: 1", add({ name: "@" }), 'x: 1\nnames:\n  - name: "@"\n'],
  [
    "keeps Windows line breaks",
    "names:\r\n  - { name: a }\r\n",
    add({ name: "b" }),
    "names:\r\n  - { name: a }\r\n  - { name: b }\r\n",
  ],
  ["replaces a value", block, set(0, "ttl", 300), block.replace("ttl: 60 #", "ttl: 300 #")],
  ["replaces a value in braces", block, set(1, "zone", "example.net"), block.replace("'example.org'", "example.net")],
  [
    "replaces a value in a nested mapping",
    block,
    set(0, "ipv4", "igb0", "interface"),
    block.replace("pppoe0 #", "igb0 #"),
  ],
  [
    "replaces a nested mapping",
    "names:\n  - name: a\n    ipv4:\n      vhid: 1\n    ttl: 1\n",
    set(0, "ipv4", "igb0"),
    "names:\n  - name: a\n    ipv4: igb0\n    ttl: 1\n",
  ],
  [
    "fills a setting without a value",
    "names:\n  - name: a\n    ttl: # todo\n",
    set(0, "ttl", 60),
    "names:\n  - name: a\n    ttl: 60 # todo\n",
  ],
  ["adds a setting", block, set(0, "paused", true), block.replace("vhid: 1\n", "vhid: 1\n    paused: true\n")],
  ["adds a setting in braces", block, set(1, "paused", true), block.replace("ttl: 60}", "ttl: 60, paused: true}")],
  ["removes a setting with its line", block, set(0, "ttl", undefined), without("    ttl: 60 # short\n")],
  ["removes the last setting in braces", block, set(1, "ttl", undefined), without(", ttl: 60")],
  ["removes a setting in braces", block, set(1, "ipv4", undefined), without("ipv4: true, ")],
  [
    "removes the setting beside the dash",
    "names:\n  - ttl: 1 # x\n    name: a\n",
    set(0, "ttl", undefined),
    "names:\n  - name: a\n",
  ],
  [
    "keeps a comment between the dash and the next setting",
    "names:\n  - ttl: 1\n    # x\n    name: a\n",
    set(0, "ttl", undefined),
    "names:\n  - \n    # x\n    name: a\n",
  ],
  [
    "removes an entry, and keeps the comments around it",
    block,
    { kind: "remove", index: 1 },
    without("  - {name: two,   zone: 'example.org', ipv4: true, ttl: 60}\n"),
  ],
  [
    "removes the only entry",
    "names: # c\n  # d\n  - name: a\n    zone: b\nx: 1\n",
    { kind: "remove", index: 0 },
    "names: [] # c\n  # d\nx: 1\n",
  ],
  [
    "removes an entry in brackets",
    "names: [{ name: a }, { name: b }]",
    { kind: "remove", index: 0 },
    "names: [{ name: b }]",
  ],
  [
    "removes the last entry in brackets",
    "names: [{ name: a }, { name: b }]",
    { kind: "remove", index: 1 },
    "names: [{ name: a }]",
  ],
  [
    "removes the last entry of a file without a last line break",
    "names:\n- name: a\n- name: b",
    { kind: "remove", index: 1 },
    "names:\n- name: a\n",
  ],
])("%s", (_, before, change, after) => expect(editNames(before, change)).toBe(after));

test.each<[string, string, NamesChange]>([
  ["an entry that is an alias", "x: &a { name: a }\nnames: [*a]\n", set(0, "name", "b")],
  ["an anchor that is needed elsewhere", "names:\n  - &a { name: a }\nx: *a\n", { kind: "remove", index: 0 }],
  [
    "a change inside an anchor, which would change two things",
    "names:\n  - &a { name: a }\nx: *a\n",
    set(0, "name", "b"),
  ],
  [
    "a value with an anchor, which is used elsewhere",
    "names:\n  - { name: a, ttl: &t 60 }\nx: *t\n",
    set(0, "ttl", 30),
  ],
  ["a value with a tag that does not fit", "names:\n  - { name: a, ttl: !!str 60 }\n", set(0, "ttl", 30)],
  ["a file in braces, whose only line may contain secrets", "{ names: [{ name: a }] }", nas],
  ["a file with a second document", "names:\n  - name: a\n---\nx: 1\n", { kind: "remove", index: 0 }],
  ["an entry that does not exist", block, { kind: "remove", index: 2 }],
])("leaves %s alone", (_, text, change) => expect(editNames(text, change)).toBeUndefined());

it("sets one value anywhere, and nothing else", () => {
  const text = "sources: # mine\n  a: { url: 'https://x:1', ca: c } # b\n";
  expect(setSetting(text, ["sources", "a", "url"], "https://x:2")).toBe(text.replace("'https://x:1'", '"https://x:2"'));
  expect(setSetting(text, ["targets", "a", "url"], "https://x:2")).toBeUndefined();
});

const word = fc.oneof(
  fc.constantFrom(
    "home",
    "@",
    "no",
    "1e3",
    "::1:2",
    "a b",
    "ä",
    "#x",
    "- y",
    "true",
    "0x1",
    "*",
    "a: b",
    '"',
    "'",
    "\\",
  ),
  fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== ""),
);
const entry = fc.record(
  {
    name: word,
    zone: word,
    ttl: fc.nat(999_999),
    create: fc.boolean(),
    ipv4: fc.array(word, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ["name", "zone"] },
);
const inBraces = (value: unknown) => stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
const styles = {
  block: (names: readonly unknown[]) => stringify({ names }, { lineWidth: 0 }),
  lines: (names: readonly unknown[]) => `names:\n${names.map((each) => `- ${inBraces(each)} # one\n`).join("")}`,
  brackets: (names: readonly unknown[]) => `names: ${inBraces(names)} # all\n`,
};
const config = fc
  .record({
    names: fc.array(entry, { minLength: 1, maxLength: 4 }),
    style: fc.constantFrom(styles.block, styles.lines, styles.brackets),
    tail: fc.constantFrom("", "# last\ninterval: 1s"),
  })
  .map(({ names, style, tail }) => ({ names, tail, text: `# first\nstate: x # kept\n${style(names)}${tail}` }));

describe("laws", () => {
  it("an entry that is added and removed again leaves every byte as it was", () => {
    fc.assert(
      fc.property(config, entry, ({ names, text }, more) => {
        const added = editNames(text, add(more as never)) ?? "";
        expect((parse(added) as { names: unknown[] }).names).toEqual([...names, more]);
        expect(editNames(added, { kind: "remove", index: names.length })).toBe(text);
      }),
      runs(15),
    );
  });

  it("a setting that is added and removed again leaves every byte as it was", () => {
    fc.assert(
      fc.property(config, fc.nat(3), word, ({ names, text }, at, value) => {
        const index = at % names.length;
        const added = editNames(text, set(index, "paused", value)) ?? "";
        expect((parse(added) as { names: { paused?: string }[] }).names[index]?.paused).toBe(value);
        expect(editNames(added, set(index, "paused", undefined))).toBe(text);
      }),
      runs(15),
    );
  });

  it("a value that is replaced and put back means the same, and no comment or other line is touched", () => {
    fc.assert(
      fc.property(config, fc.nat(3), word, ({ names, text, tail }, at, value) => {
        const index = at % names.length;
        const changed = editNames(text, set(index, "zone", value)) ?? "";
        expect(changed.startsWith("# first\nstate: x # kept\n")).toBe(true);
        expect(changed.endsWith(tail)).toBe(true);
        const back = editNames(changed, set(index, "zone", names[index]?.zone)) ?? "";
        expect(parse(back)).toEqual(parse(text));
      }),
      runs(15),
    );
  });
});
