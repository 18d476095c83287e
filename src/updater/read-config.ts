import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Fault, fail, ok, type Result } from "../core/result.ts";
import type { SourceConfig, TargetConfig, UpdaterConfig } from "./config.ts";
import { endpointKeys, missing, readEndpoint } from "./read-endpoint.ts";
import { readNames } from "./read-names.ts";
import { readKeyFile, readSecret, type Surroundings } from "./read-secret.ts";
import { sourceKinds } from "./sources.ts";
import { targetApis } from "./targets.ts";
import { createYamlReader, type Spot, type YamlReader } from "./yaml-reader.ts";

const defaultInterval = 30_000;

/** Reads a config and all files it names. `file` is shown in faults as it was given. */
export function readConfig(file: string, env: Surroundings["env"], cwd: string): Result<UpdaterConfig> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return fail(unreadable(file, (error as NodeJS.ErrnoException).code));
  }
  const warnings: string[] = [];
  const surroundings: Surroundings = {
    env,
    resolve: (other) => resolve(dirname(path), other),
    warn: (warning) => warnings.includes(warning) || warnings.push(warning),
  };
  const yaml = createYamlReader(text, file);
  const config = yaml.faults.length === 0 ? readRoot(yaml, path, surroundings) : undefined;
  return config && yaml.faults.length === 0 ? ok({ ...config, warnings }) : { ok: false, faults: sorted(yaml.faults) };
}

function readRoot(yaml: YamlReader, path: string, surroundings: Surroundings): UpdaterConfig | undefined {
  const fields = yaml.fields(yaml.root, "the config", ["state", "interval", "sources", "targets", "names"]);
  if (!fields) return undefined;
  const sources = readEach(yaml, fields.get("sources"), "sources", (name, at) =>
    readSource(yaml, name, at, surroundings),
  );
  const targets = readEach(yaml, fields.get("targets"), "targets", (name, at) =>
    readTarget(yaml, name, at, surroundings),
  );
  const state = fields.get("state");
  const interval = fields.get("interval");
  const names = fields.get("names");
  const stateFile = (state && yaml.text(state, "state")) ?? `${basename(path).replace(/\.ya?ml$/, "")}-state.json`;
  return {
    file: path,
    stateFile: surroundings.resolve(stateFile),
    interval: (interval && readDuration(yaml, interval, "interval")) ?? defaultInterval,
    sources: sources.read,
    targets: targets.read,
    names: names ? readNames(yaml, names, { sources: sources.known, targets: targets.known }) : [],
    warnings: [],
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
  const kind = readOneOf(yaml, fields.get("kind"), `kind of ${what}`, sourceKinds, "firewall");
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
  const api = readOneOf(yaml, fields.get("api"), `api of ${what}`, targetApis, "v1");
  const spot = fields.get("token");
  const token = spot
    ? readSecret(yaml, spot, `token of ${what}`, around)
    : yaml.fault(fields.self, missing(`${what} has no token`, "add `token: { file: path }`"));
  return endpoint && api && token ? { ...endpoint, name, api, token } : undefined;
}

function readOneOf(
  yaml: YamlReader,
  at: Spot | undefined,
  what: string,
  known: readonly string[],
  fallback: string,
): string | undefined {
  if (!at) return fallback;
  const text = yaml.text(at, what);
  if (text === undefined || known.includes(text)) return text;
  const todo = `write ${known.join(" or ")}`;
  return yaml.fault(at, { code: "unknown-choice", message: `${what} cannot be "${text}"`, todo });
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function readDuration(yaml: YamlReader, at: Spot, what: string): number | undefined {
  const text = yaml.text(at, what);
  if (text === undefined) return undefined;
  const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const duration = Number(digits) * (unitMs[unit] ?? 0);
  if (duration >= 1_000 && duration <= 24 * 3_600_000) return duration;
  const message = `${what} is no span of time from 1s to 24h: ${text}`;
  return yaml.fault(at, { code: "bad-duration", message, todo: "write it like 30s, 5m or 1h" });
}

function unreadable(file: string, code = "unreadable"): Fault {
  return code === "ENOENT"
    ? {
        code: "missing-file",
        where: file,
        message: "there is no such config file",
        todo: "copy moor.sample.yaml to it and fill it in, or name another with --config FILE",
      }
    : { code: "unreadable-file", where: file, message: `it cannot be read (${code})`, todo: "mend its permissions" };
}

/** In the order of the file: references are checked after the rest, but people read from top to bottom. */
function sorted(faults: readonly Fault[]): readonly Fault[] {
  const place = ({ where }: Fault) => {
    const [line = 0, column = 0] = where.split(":").slice(-2).map(Number);
    return line * 10_000 + column;
  };
  return faults.toSorted((a, b) => place(a) - place(b));
}
