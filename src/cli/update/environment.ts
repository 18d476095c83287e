import { parse } from "yaml";
import { nearest } from "../../core/names/nearest.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import type { Mapping } from "../../lib/settings/mapping.ts";
import { configSettings } from "../../updater/config/config.ts";
import { configKinds } from "../../updater/read-config.ts";
import { sourceKinds } from "../../updater/sources/sources.ts";
import { targetKinds } from "../../updater/targets/targets.ts";
import { type KindSetting, settingsOf } from "../io/kind-settings.ts";

/** What would be in `moor.yaml`, one setting a line, and the variable that each line comes from. */
export type EnvironmentConfig = { readonly text: string; readonly variables: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A config for one source and one target. Variables are the settings of `moor.yaml`: `MOOR_TARGET_URL` is `url:` of the
 * target, `MOOR_TTL` is `ttl:` of the names, `MOOR_INTERVAL` is `interval:`. Undefined if none asks for it.
 */
export function configFromEnvironment(env: Environment): Result<EnvironmentConfig> | undefined {
  if (starters.every((variable) => !env[variable])) return undefined;
  const missing = starters.filter((variable) => !env[variable]);
  if (missing.length > 0) return { ok: false, faults: missing.map(notSet) };
  const kinds = { source: env.MOOR_SOURCE || "web", target: env.MOOR_TARGET ?? "" };
  const known = knownVariables(kinds);
  if (!known.ok) return known;
  const names = new Set([...Object.keys(own), ...known.value.map(({ variable }) => variable)]);
  const unknown = Object.keys(env).filter((variable) => variable.startsWith("MOOR_") && !names.has(variable));
  if (unknown.length > 0) return { ok: false, faults: unknown.map((variable) => notKnown(variable, [...names])) };
  const typed = readTyped(known.value, env);
  const host = namesOf(env);
  const noDevice =
    sourceKinds[kinds.source]?.only || env.MOOR_IPV4 || env.MOOR_IPV6 ? [] : [deviceNeeded(kinds.source)];
  const faults = [...[typed, host].flatMap((read) => (read.ok ? [] : read.faults)), ...noDevice];
  return typed.ok && host.ok && noDevice.length === 0
    ? ok(printConfig(kinds, typed.value, host.value))
    : { ok: false, faults };
}

/** The variables without which nothing is meant for `moor update`; both are needed. */
const starters = ["MOOR_TARGET", "MOOR_NAMES"] as const;

const own = {
  MOOR_TARGET: "where the records are: hetzner, cloudflare, desec, duckdns …",
  MOOR_NAMES: "the names, such as home.example.org",
  MOOR_ZONE: "the zone of the names",
  MOOR_SOURCE: "where the address is read",
} as const;

type Section = "top" | "source" | "target" | "name";
type Variable = { readonly variable: string; readonly section: Section; readonly key: string; readonly as: As };
/** `file` and `env`: a secret, in the file that the variable names, or in the variable itself. */
type As = "text" | "yaml" | "file" | "env";
type Typed = Variable & { readonly value: unknown };

/** Settings that are not one value, or that this config has by other variables. */
const elsewhere: ReadonlySet<string> = new Set([
  ...["sources", "targets", "names", "hosts"],
  ...["kind", "api", "name", "zone", "source", "target"],
]);

function knownVariables(kinds: { readonly source: string; readonly target: string }): Result<readonly Variable[]> {
  const source = sourceKinds[kinds.source];
  const target = targetKinds[kinds.target];
  if (!source) return fail(noSuchKind("MOOR_SOURCE", kinds.source, Object.keys(sourceKinds)));
  if (!target) return fail(noSuchKind("MOOR_TARGET", kinds.target, Object.keys(targetKinds)));
  const references = { sources: new Map(), targets: new Map(), kinds: configKinds };
  const config = configSettings(references, () => undefined);
  const top = settingsOf(config);
  const rules = new Set(top.map(({ key }) => key));
  const nameSchema = (config.schema.properties as { readonly names: { readonly items: Mapping<unknown>["schema"] } })
    .names.items;
  const name = settingsOf({ schema: nameSchema } as Mapping<unknown>).filter(({ key }) => !rules.has(key));
  const inSection = (section: Section, prefix: string, settings: readonly KindSetting[]): readonly Variable[] =>
    settings.flatMap(({ key, type }): Variable | readonly Variable[] => {
      if (elsewhere.has(key)) return [];
      const variable = `MOOR_${prefix}${upperSnake(key)}`;
      if (type !== "secret") return { variable, section, key, as: type === "yaml" ? type : "text" };
      const secrets = [variable, ...(variable === "MOOR_TARGET_TOKEN" ? ["MOOR_TOKEN"] : [])];
      return secrets.flatMap((each): readonly Variable[] => [
        { variable: each, section, key, as: "env" },
        { variable: `${each}_FILE`, section, key, as: "file" },
      ]);
    });
  return ok([
    ...inSection("top", "", top),
    ...inSection("source", "SOURCE_", settingsOf(source as unknown as Mapping<unknown>)),
    ...inSection("target", "TARGET_", settingsOf(target as unknown as Mapping<unknown>)),
    ...inSection("name", "", name),
  ]);
}

const upperSnake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

function readTyped(known: readonly Variable[], env: Environment): Result<readonly Typed[]> {
  const typed: Typed[] = [];
  const faults: Fault[] = [];
  for (const each of known) {
    const { variable, section, key } = each;
    const value = env[variable];
    if (value === undefined || value === "") continue;
    const twin = typed.find((other) => other.section === section && other.key === key);
    if (twin) faults.push({ ...setTwice, where: variable, message: `it says the same as ${twin.variable}` });
    const read = valueOf(each, value);
    if (read.ok) typed.push({ ...each, value: read.value });
    else faults.push(...read.faults);
  }
  return faults.length > 0 ? { ok: false, faults } : ok(typed);
}

function valueOf({ as, variable }: Variable, value: string): Result<unknown> {
  if (as === "file") return ok({ file: value });
  if (as === "env") return ok({ env: variable });
  if (as === "text") return ok(value);
  try {
    return ok(parse(value));
  } catch {
    const todo = "write it as in moor.yaml, on one line, with lists as [a, b] and mappings as { key: value }";
    return fail({ code: "bad-yaml", where: variable, message: "it cannot be read as YAML", todo });
  }
}

type Host = { readonly name: string; readonly zone: string };

function namesOf({ MOOR_NAMES = "", MOOR_ZONE }: Environment): Result<readonly Host[]> {
  const written = MOOR_NAMES.split(/[\s,]+/).filter(Boolean);
  const hosts = written
    .map((name) => name.replace(/\.$/, ""))
    .map((name) => inZone(name, MOOR_ZONE ?? guessZone(name)));
  const faults = hosts.flatMap((host) => (host.ok ? [] : host.faults));
  return faults.length > 0 ? { ok: false, faults } : ok(hosts.flatMap((host) => (host.ok ? [host.value] : [])));
}

function inZone(name: string, zone: string): Result<Host> {
  const end = `.${zone.replace(/\.$/, "")}`;
  if (`.${name}`.toLowerCase() === end.toLowerCase()) return ok({ name: "@", zone });
  if (name.toLowerCase().endsWith(end.toLowerCase())) return ok({ name: name.slice(0, -end.length), zone });
  return fail({
    code: "not-in-zone",
    where: "MOOR_NAMES",
    message: `${name} is not in the zone ${zone}`,
    todo: "write whole names, such as home.example.org, and their zone in MOOR_ZONE",
  });
}

/** The part that one registers: two labels, or three below `co.uk`, `com.au` and the like. `MOOR_ZONE` corrects it. */
function guessZone(name: string): string {
  const labels = name.split(".");
  const [second = "", last = ""] = labels.slice(-2);
  return labels.slice(last.length === 2 && registries.has(second) ? -3 : -2).join(".");
}

const registries: ReadonlySet<string> = new Set(
  "ac asn co com edu gen go gob gov gv id in ltd me ne net nom or org plc sch web".split(" "),
);

function printConfig(
  { source, target }: { readonly source: string; readonly target: string },
  typed: readonly Typed[],
  hosts: readonly Host[],
): EnvironmentConfig {
  const lines: { readonly line: string; readonly variable: string }[] = [];
  const add = (variable: string, line: string) => void lines.push({ line, variable });
  const addAll = (section: Section, indent: string) => {
    for (const { variable, key, value } of typed.filter((each) => each.section === section))
      add(variable, `${indent}${key}: ${JSON.stringify(value)}`);
  };
  addAll("top", "");
  if (!typed.some(({ section, key }) => section === "top" && key === "public")) add("MOOR_PUBLIC", "public: require");
  add("MOOR_SOURCE", "sources:");
  add("MOOR_SOURCE", `  ${source}:`);
  add("MOOR_SOURCE", `    kind: ${source}`);
  addAll("source", "    ");
  add("MOOR_TARGET", "targets:");
  add("MOOR_TARGET", `  ${target}:`);
  add("MOOR_TARGET", `    api: ${target}`);
  addAll("target", "    ");
  add("MOOR_NAMES", "names:");
  for (const { name, zone } of hosts) {
    add("MOOR_NAMES", `  - name: ${JSON.stringify(name)}`);
    add("MOOR_ZONE", `    zone: ${JSON.stringify(zone)}`);
    for (const [variable, key, value] of nameDefaults(source, target, typed)) add(variable, `    ${key}: ${value}`);
    addAll("name", "    ");
  }
  return { text: `${lines.map(({ line }) => line).join("\n")}\n`, variables: lines.map(({ variable }) => variable) };
}

/** Without a device: the IPv4 address of a source that knows only one connection. The record is created if need be. */
function nameDefaults(source: string, target: string, typed: readonly Typed[]) {
  const has = (key: string) => typed.some((each) => each.section === "name" && each.key === key);
  const knowsOne = sourceKinds[source]?.only !== undefined;
  return [
    ...(knowsOne && !has("ipv4") && !has("ipv6") ? [["MOOR_IPV4", "ipv4", "true"] as const] : []),
    ...(targetKinds[target]?.can.create && !has("create") ? [["MOOR_CREATE", "create", "true"] as const] : []),
  ];
}

/** Faults of the text, at the variables that it was made of, each once. */
export function atVariables(faults: readonly Fault[], { variables }: EnvironmentConfig): readonly Fault[] {
  const placed = faults.map((fault) => {
    const line = Number(fault.where.split(":").at(-2));
    return { ...fault, where: variables[line - 1] ?? "the environment" };
  });
  const shown = (fault: Fault) => `${fault.where} ${fault.message}`;
  return [...new Map(placed.map((fault) => [shown(fault), fault])).values()];
}

const notSet = (variable: (typeof starters)[number]): Fault => ({
  code: "missing",
  where: variable,
  message: "it is not set",
  todo: `set it to ${own[variable]}`,
});

const deviceNeeded = (source: string): Fault => ({
  code: "missing",
  where: "MOOR_IPV4",
  message: `it is not set, and the source ${source} may report several devices`,
  todo: "set MOOR_IPV4, MOOR_IPV6 or both to a device, such as eth0",
});

const noSuchKind = (where: string, written: string, kinds: readonly string[]): Fault => {
  const meant = nearest(written, kinds);
  const todo = `choose one of ${kinds.join(", ")}${meant ? `; did you mean ${meant}?` : ""}`;
  return { code: "unknown-kind", where, message: `there is no ${written}`, todo };
};

const notKnown = (where: string, names: readonly string[]): Fault => {
  const meant = nearest(where, names);
  const todo = `remove it${meant ? `, or did you mean ${meant}?` : ""}`;
  return { code: "unknown-variable", where, message: "moor update has no such variable", todo };
};

const setTwice = { code: "set-twice", todo: "remove one of the two" } as const;
