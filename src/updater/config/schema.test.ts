import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { readConfig } from "./read.ts";

/** The schema for editors and the reader are two texts: what one knows, the other must. */
const repository = join(import.meta.dirname, "../../..");
type Shape = {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly oneOf?: readonly Shape[];
  /** Of an entry of one kind, and of all other kinds. */
  readonly then?: Shape;
  readonly else?: Shape;
};
const schema = JSON.parse(readFileSync(join(repository, "moor.schema.json"), "utf8")) as Shape & {
  readonly $defs: Readonly<Record<string, Shape>>;
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-schema-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The settings that the reader lists when it is given one it does not know. */
function settingsAt(text: string): readonly string[] {
  writeFileSync(join(folder, "moor.yaml"), text.replace("HERE", "qqqqqqqqqqqqqqqq: 1"));
  const read = readConfig("moor.yaml", {}, folder);
  const fault = read.ok
    ? undefined
    : read.faults.find(({ code, message }) => code === "unknown-key" && message.includes("qqqq"));
  return fault?.todo?.replace("the settings are ", "").split(", ") ?? [];
}

test.each<[string, string, Shape | undefined]>([
  ["the config", "HERE", schema],
  ["a source", "sources: { a: { HERE } }", schema.$defs.source],
  ["a target", "targets: { a: { HERE } }", schema.$defs.target],
  ["a name", "names: [{ HERE }]", schema.$defs.name],
  ["a family", "names: [{ ipv6: { HERE } }]", schema.$defs.family?.oneOf?.[1]],
  ["control", "control: { HERE }", schema.$defs.control],
  ["notify", "notify: [{ HERE }]", schema.$defs.notify],
  ["heartbeat", "heartbeat: { HERE }", schema.$defs.heartbeat],
])("%s has the same settings in both", (_, text, shape) => {
  expect(settingsAt(text).toSorted()).toEqual(Object.keys(shape?.properties ?? {}).toSorted());
});

test.each<[string, "then" | "else"]>([
  ["mail", "then"],
  ["webhook", "else"],
  ["ntfy", "else"],
])("a notice by %s has the same settings in both", (kind, branch) => {
  const { notify } = schema.$defs;
  const refused = notify?.[branch]?.properties ?? {};
  const allowed = Object.keys(notify?.properties ?? {}).filter((setting) => refused[setting] !== false);
  expect(settingsAt(`notify: [{ kind: ${kind}, HERE }]`).toSorted()).toEqual(allowed.toSorted());
});

it("the sample has every setting", () => {
  const sample = readFileSync(join(repository, "moor.sample.yaml"), "utf8");
  const shapes = [schema, ...Object.values(schema.$defs)].flatMap((shape) => [shape, ...(shape.oneOf ?? [])]);
  const settings = shapes.flatMap(({ properties = {} }) => Object.keys(properties));
  expect(settings.filter((setting) => !new RegExp(`\\b${setting}:`).test(sample))).toEqual([]);
});
