import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Schema, sharedTable, typeInWords } from "../src/lib/settings/setting.ts";
import { configSettings } from "../src/updater/config/config.ts";
import { configKinds } from "../src/updater/read-config.ts";

/**
 * Generates from the description of the config: `moor.schema.json` for editors, `docs/config.md` for people, and the
 * settings of each kind at the end of `docs/sources.md` and `docs/targets.md`.
 * Run it after adding or changing a setting: npx node scripts/describe-config.ts [FOLDER]
 */
const repository = join(import.meta.dirname, "..");
const folder = process.argv[2] ?? repository;

function printSchema(schema: Schema): string {
  const whole = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
  const forEditors = (key: string, value: unknown) => (key.startsWith("x-") ? undefined : value);
  return `${JSON.stringify(whole, forEditors, 2)}\n`;
}

const intro = `# All settings of \`moor update\`

<!-- Made by scripts/describe-config.ts from the settings in src/updater. Edit those, and run the script again. -->

The settings of \`moor.yaml\`, except those of [sources](sources.md#settings) and [targets](targets.md#settings). [updater.md](updater.md) explains them;
[moor.sample.yaml](../moor.sample.yaml) is a commented file to start from. \`moor update --check\` lists every mistake with its line.
With \`moor.schema.json\`, editors check and complete the file: copy the first line of the sample.

After each setting, in brackets: its type, and its default.

- A **path** is relative to the folder of the config.
- A **duration** is a whole number of seconds, minutes or hours (\`30s\`, \`5m\`, \`1h\`), from \`1s\` to \`24h\`.
- A **secret** is in a file that only you can read (\`chmod 600\`) and that holds nothing else, \`{ file: PATH }\`, or in an
  environment variable, \`{ env: NAME }\`; never in the config itself.
`;

function printPage(root: Schema): string {
  const mappings = titledIn(root).filter((schema) => pageOf(schema) === undefined);
  const shared = mappings.flatMap((schema) =>
    Object.entries(propertiesOf(schema)).filter(([, { [sharedTable]: title }]) => title),
  );
  const tables = Map.groupBy(shared, ([, schema]) => words(schema[sharedTable]));
  return [
    intro,
    ...mappings.map((schema, at) => printMapping(schema, schema === root, mappings.slice(0, at))),
    ...[...tables].map(([title, settings]) =>
      printList(title, "", rowsOf(Object.entries(Object.fromEntries(settings)), [])),
    ),
  ].join("\n");
}

/** The page that has the settings of this kind of source or target. */
const pageOf = ({ title }: Schema): "sources" | "targets" | undefined =>
  String(title).startsWith("Source: ") ? "sources" : String(title).startsWith("Target: ") ? "targets" : undefined;

/** A setting that this many kinds describe in the same way is listed once. */
const common = 4;

/** The settings of all kinds of one page: first those that most of them have. */
function printKinds(root: Schema, page: "sources" | "targets", key: "kind" | "api"): string {
  const kinds = titledIn(root)
    .filter((schema) => pageOf(schema) === page)
    .map((schema) => ({
      word: `\`${words(propertiesOf(schema)[key]?.const)}\``,
      own: Object.entries(propertiesOf(schema)).filter(([name]) => name !== key),
      required: requiredIn(schema),
    }));
  const optional = kinds.flatMap(({ own, required }) => own.filter(([name]) => !required.includes(name)));
  const isCommon = ([name, { description }]: readonly [string, Schema]) =>
    optional.filter(([other, schema]) => other === name && schema.description === description).length >= common;
  const shared = [...new Map(optional.filter(isCommon)).entries()];
  const cells = kinds.map(({ word, own, required }) => ({
    word,
    settings: own
      .filter((each) => !isCommon(each))
      .map(([name, schema]) => printSetting(name, schema, required))
      .join("<br>"),
  }));
  const together = Map.groupBy(
    cells.filter(({ settings }) => settings !== ""),
    ({ settings }) => settings,
  );
  const besides = [...together].map(([settings, same]) => [same.map(({ word }) => word).join(", "), settings]);
  const elsewhere = new Set(
    shared.flatMap(([, { [sharedTable]: title }]) => (title === undefined ? [] : [words(title)])),
  );
  const usual = shared
    .filter(([, { [sharedTable]: title }]) => title === undefined)
    .map(([name, schema]) => printSetting(name, name === "url" ? { ...schema, default: undefined } : schema, []));
  return [
    `Most kinds have the settings of ${[...elsewhere].map((title) => linkTo(title, "config.md")).join(", ")}${usual.length > 0 ? `, and these:\n\n${list(usual)}` : ".\n"}`,
    `Besides them (required, unless there is a default or it says *optional*):\n\n${table([`\`${key}\``, "settings"], besides)}`,
  ].join("\n");
}

function printSetting(name: string, schema: Schema, required: readonly string[]): string {
  const [setting, fallback, meaning] = shortRow(name, schema, required);
  const needed = required.includes(name) ? "" : fallback === "" ? " (*optional*)" : ` (default ${fallback})`;
  return `${setting}${needed}: ${meaning}`;
}

const shortRow = (name: string, schema: Schema, required: readonly string[]): readonly string[] => [
  `\`${name}\``,
  required.includes(name) ? "*required*" : schema.default === undefined ? "" : `\`${words(schema.default)}\``,
  words(schema.description ?? ""),
];

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(heads) + line(heads.map(() => "---")) + rows.map(line).join("");
}

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}\n`).join("");

/** The page with the part below its heading `Settings`, which is last, made anew. */
function withSettings(page: "sources" | "targets", text: string): string {
  const written = readFileSync(join(repository, `docs/${page}.md`), "utf8");
  const end = written.indexOf("\n## Settings\n");
  return `${end < 0 ? written : written.slice(0, end)}\n## Settings\n\n<!-- Made by scripts/describe-config.ts. -->\n\n${text}`;
}

/** Every mapping with a title, in the order of the description, each once: some are used in several places. */
function titledIn(schema: Schema, found: Schema[] = []): readonly Schema[] {
  if (schema.title !== undefined && !found.some(({ title }) => title === schema.title)) found.push(schema);
  for (const child of childrenOf(schema)) titledIn(child, found);
  return found;
}

const childrenOf = (schema: Schema): readonly Schema[] => {
  const { anyOf = [], items, additionalProperties } = schema;
  const all = [...Object.values(propertiesOf(schema)), ...(anyOf as readonly unknown[]), items, additionalProperties];
  return all.filter((child): child is Schema => typeof child === "object" && child !== null);
};

const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const propertiesOf = ({ properties = {} }: Schema) => properties as Readonly<Record<string, Schema>>;
const requiredIn = ({ required = [] }: Schema) => required as readonly string[];

/** `before`: the mappings further up. What several settings have in common with one of them is not printed again. */
function printMapping(schema: Schema, isRoot: boolean, before: readonly Schema[]): string {
  const title = isRoot ? "Top level" : words(schema.title);
  const others = new Set(
    Object.values(propertiesOf(schema)).flatMap(({ [sharedTable]: table }) =>
      table === undefined ? [] : [words(table)],
    ),
  );
  const isAbove = (row: readonly string[]) =>
    before.find((other) => ownRows(other).some((printed) => printed.join("|") === row.join("|")));
  const rows = ownRows(schema);
  const above = [...Map.groupBy(rows, isAbove)].filter(([other, same]) => other !== undefined && same.length > 1);
  const own = rows.filter((row) => !above.some(([, same]) => same.includes(row)));
  const described = before.some((other) =>
    Object.values(propertiesOf(other)).some(({ description }) => description === schema.description),
  );
  const about = isRoot || described ? "" : `${words(schema.description ?? "")}\n`;
  const more = [
    ...above.map(([other, same]) => `${same.map(([name]) => name).join(", ")} as in ${linkTo(words(other?.title))}`),
    ...[...others].map((table) => `the settings of ${linkTo(table)}`),
  ];
  return printList(title, about, own) + (more.length > 0 ? `\nAnd ${more.join("; ")}.\n` : "");
}

const ownRows = (schema: Schema) =>
  rowsOf(
    Object.entries(propertiesOf(schema)).filter(([, setting]) => setting[sharedTable] === undefined),
    requiredIn(schema),
  );

/** Settings that differ in nothing but their names share a line. */
function rowsOf(settings: readonly (readonly [string, Schema])[], required: readonly string[]) {
  const rows = settings.map(([name, schema]) => {
    const [setting = "", fallback, meaning = ""] = shortRow(name, schema, required);
    return [setting, [typeOf(schema), fallback].filter(Boolean).join("; "), meaning];
  });
  const together = Map.groupBy(rows, ([, ...rest]) => rest.join("|")).values();
  return [...together].map((same) => [same.map(([name]) => name).join(", "), ...(same[0]?.slice(1) ?? [])]);
}

const printList = (title: string, about: string, rows: readonly (readonly string[])[]): string =>
  `## ${title}\n${about.trim() && `\n${about}`}\n${list(rows.map(([name, type, meaning]) => `${name} (${type}): ${meaning}`))}`;

function typeOf(schema: Schema): string {
  const { type, anyOf, items, title, additionalProperties } = schema;
  if (schema[typeInWords] !== undefined) return words(schema[typeInWords]);
  if (schema.const !== undefined) return `\`${words(schema.const)}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => `\`${word}\``).join(" or ");
  const page = pageOf(schema);
  if (page !== undefined) return `[${page === "sources" ? "source" : "target"}](${page}.md#settings)`;
  if (title !== undefined) return linkTo(words(title));
  if (Array.isArray(anyOf)) {
    const types = [...new Set(anyOf.map(typeOf))];
    return types.map((each) => (types.some((one) => each === `list of ${one}`) ? "a list" : each)).join(" or ");
  }
  if (type === "array") return `list of ${typeOf(items as Schema)}`;
  if (type === "integer") return `${words(schema.minimum)} to ${words(schema.maximum)}`;
  if (type === "boolean") return "boolean";
  return type === "object" ? `by name: ${typeOf(additionalProperties as Schema)}` : "text";
}

/** A link to a heading, with the anchor that GitHub generates. */
const linkTo = (title: string, page = "") =>
  `[${title}](${page}#${title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-")})`;

const { schema } = configSettings({ sources: new Map(), targets: new Map(), kinds: configKinds }, () => undefined);
mkdirSync(join(folder, "docs"), { recursive: true });
writeFileSync(join(folder, "moor.schema.json"), printSchema(schema));
writeFileSync(join(folder, "docs/config.md"), printPage(schema));
writeFileSync(join(folder, "docs/sources.md"), withSettings("sources", printKinds(schema, "sources", "kind")));
writeFileSync(join(folder, "docs/targets.md"), withSettings("targets", printKinds(schema, "targets", "api")));
