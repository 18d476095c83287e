import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import { isUtf16 } from "../../process/utf8-text.ts";
import { sourceKinds } from "../sources/sources.ts";
import { targetApis } from "../targets/targets.ts";
import type { SourceConfig, TargetConfig, UpdaterConfig } from "./config.ts";
import { readChoice } from "./read-choice.ts";
import { readDuration } from "./read-duration.ts";
import { endpointKeys, missing, readEndpoint } from "./read-endpoint.ts";
import { readKeptFiles } from "./read-kept-files.ts";
import { readNames } from "./read-names.ts";
import { readRules, ruleKeys } from "./read-rules.ts";
import { readKeyFile, readSecret, type Surroundings, toMend, utf16 } from "./read-secret.ts";
import { readControl, readHeartbeats, readNotify } from "./read-telling.ts";
import { lookOf } from "./watch-files.ts";
import { createYamlReader, type Spot, type YamlReader } from "./yaml-reader.ts";

const defaultInterval = 30_000;

/** Reads a config and all files it names. `file` is shown in faults as it was given. */
export function readConfig(file: string, env: Surroundings["env"], cwd: string): Result<UpdaterConfig> {
  const path = resolve(cwd, file);
  const files = new Map<string, string>();
  const sawFile = (seen: string) => void (files.has(seen) || files.set(seen, lookOf(seen)));
  sawFile(path);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return fail(unreadable(file, (error as NodeJS.ErrnoException).code));
  }
  if (isUtf16(text)) return fail({ ...utf16, where: file, message: "it is not UTF-8" });
  const warnings: string[] = [];
  const surroundings: Surroundings = {
    env,
    resolve: (other) => resolve(dirname(path), other),
    warn: (warning) => warnings.includes(warning) || warnings.push(warning),
    sawFile,
  };
  const yaml = createYamlReader(text, file);
  const config = yaml.faults.length === 0 ? readRoot(yaml, path, surroundings, files) : undefined;
  return config && yaml.faults.length === 0 ? ok({ ...config, warnings }) : { ok: false, faults: sorted(yaml.faults) };
}

const rootKeys = [
  "state",
  "history",
  "interval",
  "sources",
  "targets",
  "names",
  "control",
  "notify",
  "heartbeat",
] as const;

function readRoot(
  yaml: YamlReader,
  path: string,
  surroundings: Surroundings,
  filesRead: UpdaterConfig["files"],
): UpdaterConfig | undefined {
  const fields = yaml.fields(yaml.root, "the config", [...rootKeys, ...ruleKeys]);
  if (!fields) return undefined;
  const read = <T>(key: (typeof rootKeys)[number], reader: (at: Spot) => T): T | undefined => {
    const at = fields.get(key);
    return at && reader(at);
  };
  const sources = readEach(yaml, fields.get("sources"), "sources", (name, at) =>
    readSource(yaml, name, at, surroundings),
  );
  const targets = readEach(yaml, fields.get("targets"), "targets", (name, at) =>
    readTarget(yaml, name, at, surroundings),
  );
  const apis = new Map(targets.known.map((name) => [name, targets.read.get(name)?.api]));
  const known = { sources: sources.known, targets: apis, rules: readRules(yaml, fields) };
  const base = basename(path).replace(/\.ya?ml$/, "");
  const namesKey = fields.key("names");
  const control = read("control", (at) => readControl(yaml, at, surroundings));
  return {
    file: path,
    interval: read("interval", (at) => readDuration(yaml, at, "interval")) ?? defaultInterval,
    sources: sources.read,
    targets: targets.read,
    names: read("names", (at) => readNames(yaml, at, known)) ?? [],
    ...(namesKey ? { namesAt: yaml.where(namesKey) } : {}),
    ...(control ? { control } : {}),
    notify: read("notify", (at) => readNotify(yaml, at, surroundings)) ?? [],
    heartbeats: read("heartbeat", (at) => readHeartbeats(yaml, at, surroundings)) ?? [],
    // Last: by now every file that the config names was read.
    ...readKeptFiles(yaml, fields, base, surroundings, filesRead),
    warnings: [],
    files: filesRead,
  };
}

/** A faulty entry still counts as known: its own faults are said, and no second one about references to it. */
function readEach<T>(
  yaml: YamlReader,
  at: Spot | undefined,
  what: string,
  read: (name: string, at: Spot) => T | undefined,
): { readonly known: readonly string[]; readonly read: ReadonlyMap<string, T> } {
  const entries = at ? yaml.entries(at, what) : [];
  const done = new Map<string, T>();
  for (const [name, spot] of entries) {
    const value = read(name, spot);
    if (value !== undefined) done.set(name, value);
  }
  return { known: entries.map(([name]) => name), read: done };
}

function readSource(yaml: YamlReader, name: string, at: Spot, around: Surroundings): SourceConfig | undefined {
  const what = `source ${name}`;
  const fields = yaml.fields(at, what, ["kind", ...endpointKeys, "key", "secret", "keyFile"]);
  if (!fields) return undefined;
  const endpoint = readEndpoint(yaml, fields, what, around);
  const kind = readNamed(yaml, fields.get("kind"), `kind of ${what}`, sourceKinds, "firewall");
  const both = fields.get("keyFile");
  if (both) {
    const pair = readKeyFile(yaml, both, `keyFile of ${what}`, around);
    if (!endpoint || !kind || !pair?.secret) return undefined;
    return { ...endpoint, name, kind, key: pair.key, secret: pair.secret };
  }
  const [key, secret] = (["key", "secret"] as const).map((half) => {
    const spot = fields.get(half);
    if (spot) return readSecret(yaml, spot, `${half} of ${what}`, around, half);
    return yaml.fault(fields.self, missing(`${what} has no ${half}`, `add \`${half}: { file: path }\``));
  });
  return endpoint && kind && key && secret ? { ...endpoint, name, kind, key, secret } : undefined;
}

function readTarget(yaml: YamlReader, name: string, at: Spot, around: Surroundings): TargetConfig | undefined {
  const what = `target ${name}`;
  const fields = yaml.fields(at, what, ["api", ...endpointKeys, "token"]);
  if (!fields) return undefined;
  const endpoint = readEndpoint(yaml, fields, what, around);
  const api = readNamed(yaml, fields.get("api"), `api of ${what}`, targetApis, "v1");
  const spot = fields.get("token");
  const token = spot
    ? readSecret(yaml, spot, `token of ${what}`, around)
    : yaml.fault(fields.self, missing(`${what} has no token`, "add `token: { file: path }`"));
  return endpoint && api && token ? { ...endpoint, name, api, token } : undefined;
}

const readNamed = (yaml: YamlReader, at: Spot | undefined, what: string, known: readonly string[], fallback: string) =>
  at ? readChoice(yaml, at, what, known) : fallback;

function unreadable(file: string, code = "unreadable"): Fault {
  return code === "ENOENT"
    ? {
        code: "missing-file",
        where: file,
        message: "there is no such config file",
        todo: "make it with `moor init`, or name another with --config FILE",
      }
    : { code: "unreadable-file", where: file, message: `it cannot be read (${code})`, todo: toMend(code) };
}

/** In the order of the file: references are checked after the rest, but people read from top to bottom. */
function sorted(faults: readonly Fault[]): readonly Fault[] {
  const place = ({ where }: Fault) => {
    const [line = 0, column = 0] = where.split(":").slice(-2).map(Number);
    return line * 10_000 + column;
  };
  return faults.toSorted((a, b) => place(a) - place(b));
}
