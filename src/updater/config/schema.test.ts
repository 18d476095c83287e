import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Check } from "typebox/schema";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../read-config.ts";

/** The schema for editors and the reader come from one description; this checks that they agree. */
const repository = join(import.meta.dirname, "../../..");
type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
};
const schema = JSON.parse(readFileSync(join(repository, "moor.schema.json"), "utf8")) as Shape;
const { sources, targets, names, control, notify, heartbeat } = schema.properties ?? {};
const kindsOfNotice = notify?.items?.anyOf ?? [];
const settingsOf = (...shapes: readonly (Shape | undefined)[]) => [
  ...new Set(shapes.flatMap((shape) => Object.keys(shape?.properties ?? {}))),
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-schema-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The settings that the reader lists for an unknown one. */
function settingsAt(text: string): readonly string[] {
  writeFileSync(join(folder, "moor.yaml"), text.replace("HERE", "qqqqqqqqqqqqqqqq: 1"));
  const read = readConfig("moor.yaml", {}, folder);
  const fault = read.ok
    ? undefined
    : read.faults.find(({ code, message }) => code === "unknown-key" && message.includes("qqqq"));
  return fault?.todo?.replace("the settings are ", "").split(", ") ?? [];
}

test.each<[string, string, readonly (Shape | undefined)[]]>([
  ["the config", "HERE", [schema]],
  ["a source", "sources: { a: { HERE } }", [sources?.additionalProperties?.anyOf?.[0]]],
  ["a target", "targets: { a: { HERE } }", [targets?.additionalProperties?.anyOf?.[0]]],
  ["a target of rrsets", "targets: { a: { api: rrsets, HERE } }", [targets?.additionalProperties?.anyOf?.[1]]],
  ["a name", "names: [{ HERE }]", [names?.items]],
  ["a family", "names: [{ ipv6: { HERE } }]", [names?.items?.properties?.ipv6?.anyOf?.[1]]],
  ["control", "control: { HERE }", [control]],
  ["notify", "notify: [{ HERE }]", kindsOfNotice],
  ["a notice by webhook", "notify: [{ kind: webhook, HERE }]", [kindsOfNotice[0]]],
  ["a notice by ntfy", "notify: [{ kind: ntfy, HERE }]", [kindsOfNotice[1]]],
  ["a notice by mail", "notify: [{ kind: mail, HERE }]", [kindsOfNotice[2]]],
  ["heartbeat", "heartbeat: { HERE }", [heartbeat?.anyOf?.[0]]],
])("%s has the same settings in the schema and in the reader", (_, text, shapes) => {
  const settings = settingsAt(text).toSorted();
  expect(settings.length).toBeGreaterThan(0);
  expect(settings).toEqual(settingsOf(...shapes).toSorted());
});

const sample = readFileSync(join(repository, "moor.sample.yaml"), "utf8");

it("the sample has every setting", () => {
  const settingsBelow = (shape: Shape): readonly string[] => {
    const { properties = {}, anyOf = [], items, additionalProperties } = shape;
    const children = [...Object.values(properties), ...anyOf, items, additionalProperties];
    return [...Object.keys(properties), ...children.flatMap((child) => (child ? settingsBelow(child) : []))];
  };
  const settings = [...new Set(settingsBelow(schema))];
  expect(settings.length).toBeGreaterThan(40);
  expect(settings.filter((setting) => !new RegExp(`\\b${setting}:`).test(sample))).toEqual([]);
});

test.each<[string, string, boolean]>([
  ["the sample", sample, true],
  ["the sample with everything uncommented", uncommented(sample), true],
  ["a misspelt setting", `${sample}\ncolour: red\n`, false],
  [
    "a setting of another kind of notice",
    `${sample}\nnotify: [{ kind: ntfy, url: "https://a.test", from: b }]\n`,
    false,
  ],
  ["a token in the config", sample.replace("{ file: secrets/dns-token }", "thetoken"), false],
  ["a duration without a unit", sample.replace("interval: 30s", "interval: 30"), false],
])("editors judge %s as the reader does", (_, text, isRight) => {
  expect(Check(schema, parse(text))).toBe(isRight);
});

/** Uncomments the rules and the last paragraphs of the sample; lines that are alternatives to others stay comments. */
function uncommented(text: string): string {
  const rule = /^# {3}(holdDown|changesPerHour|verify|compare|confirm|when|vhid): (\S+).*$/gm;
  return text.replaceAll(rule, "$1: $2").replaceAll(/^# (?=(control|notify|heartbeat):| {2}- \{ kind)/gm, "");
}
