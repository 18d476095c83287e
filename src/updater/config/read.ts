import { readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { isScalar } from "yaml";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import { shellWord } from "../../core/shell-word.ts";
import { isUtf16 } from "../../core/utf8-text.ts";
import type { Reading, ReadingContext, SettingPlace } from "../../lib/settings/setting.ts";
import { createYamlReader } from "../../lib/settings/yaml-reader.ts";
import { linkTarget } from "../../process/data-folder.ts";
import { configSettings, type UpdaterConfig } from "./config.ts";
import type { ConfigKinds, ConfigReferences } from "./kinds.ts";
import { rulesOf } from "./rules.ts";
import { unreadableTodo, utf16 } from "./secret.ts";
import { fingerprintOf } from "./watch-files.ts";

/**
 * Reads a config and all files it names. Faults show `file` as given. `instead`: what the file would contain, to check
 * it before it is written.
 */
export function readConfigOf(
  kinds: ConfigKinds,
  file: string,
  env: ReadingContext["env"],
  cwd: string,
  instead?: string,
): Result<UpdaterConfig> {
  const path = resolve(cwd, file);
  const files = new Map<string, string>();
  const sawFile = (seen: string) => void (files.has(seen) || files.set(seen, fingerprintOf(seen)));
  sawFile(path);
  let text: string;
  try {
    text = instead ?? readFileSync(path, "utf8");
  } catch (error) {
    return fail(unreadable(file, (error as NodeJS.ErrnoException).code));
  }
  if (isUtf16(text)) return fail({ ...utf16, where: file, message: "it is not UTF-8" });
  const warnings: string[] = [];
  const reading: Reading = {
    ...createYamlReader(text, file),
    env,
    resolve: (other) => resolve(dirname(path), other),
    warn: (warning) => warnings.includes(warning) || warnings.push(warning),
    sawFile,
  };
  const config = reading.faults.length === 0 ? readRoot(kinds, reading, path, files) : undefined;
  return config && reading.faults.length === 0
    ? ok({ ...config, files, warnings })
    : { ok: false, faults: sorted(reading.faults) };
}

function readRoot(
  kinds: ConfigKinds,
  reading: Reading,
  path: string,
  files: UpdaterConfig["files"],
): Omit<UpdaterConfig, "files" | "warnings"> | undefined {
  const settings = configSettings(referencesIn(kinds, reading), (named, place) =>
    checkKeptFiles(keptFiles(named, path, reading.resolve), [...files.keys()], place),
  );
  const read = settings.read(reading.root, "the config", reading);
  if (!read) return undefined;
  const {
    state: _state,
    history: _history,
    interval,
    sources = new Map(),
    targets = new Map(),
    names = [],
    hosts = [],
    control,
    notify = [],
    run = [],
    heartbeat = [],
    ...rules
  } = read;
  const kept = keptFiles(read, path, reading.resolve);
  const namesKey = reading.pairs(reading.root)?.find(({ name }) => name === "names")?.key;
  const forAll = rulesOf(rules);
  return {
    file: path,
    stateFile: kept.state,
    historyFile: kept.history,
    interval,
    sources,
    targets,
    names: [...names, ...hosts.flat()].map((name) => ({ ...name, rules: rulesOf(name.rules, forAll) })),
    ...(namesKey && { namesAt: reading.where(namesKey) }),
    control,
    notify,
    run,
    heartbeats: heartbeat,
  };
}

/** Collected before anything is checked: a name may refer to an entry with faults. */
function referencesIn(kinds: ConfigKinds, reading: Reading): ConfigReferences {
  const below = (at: Reading["root"] | undefined) => (at && reading.pairs(at)) ?? [];
  const entries = (key: string) => below(below(reading.root).find(({ name }) => name === key)?.value);
  const tagsOf = (key: string, tag: string, usual: string) =>
    entries(key).map(({ name, value }) => {
      const word = below(value).find((setting) => setting.name === tag)?.value.node;
      return [name, isScalar(word) ? String(word.value) : usual] as const;
    });
  return {
    sources: new Map(tagsOf("sources", "kind", kinds.sources.usual)),
    targets: new Map(tagsOf("targets", "api", kinds.targets.usual)),
    kinds,
  };
}

function unreadable(file: string, code = "unreadable"): Fault {
  return code === "ENOENT"
    ? {
        code: "missing-file",
        where: file,
        message: "there is no such config file",
        todo: `create it with \`moor init${file === "moor.yaml" ? "" : ` --config ${shellWord(file)}`}\`, or choose another with --config FILE`,
      }
    : { code: "unreadable-file", where: file, message: `it cannot be read (${code})`, todo: unreadableTodo(code) };
}

/** In the order of the file, although references are checked last. */
function sorted(faults: readonly Fault[]): readonly Fault[] {
  const place = ({ where }: Fault) => {
    const [line = 0, column = 0] = where.split(":").slice(-2).map(Number);
    return line * 10_000 + column;
  };
  return faults.toSorted((a, b) => place(a) - place(b));
}

type Named = { readonly state?: string; readonly history?: string };

/** The files that the updater writes: `state:` and `history:`, by default next to the config. */
function keptFiles({ state, history }: Named, config: string, resolve: (path: string) => string) {
  const base = basename(config).replace(/\.ya?ml$/, "");
  return { state: resolve(state ?? `${base}-state.json`), history: resolve(history ?? `${base}-history.jsonl`) };
}

/** `filesRead`: the config and the files it names. */
function checkKeptFiles(kept: Required<Named>, filesRead: readonly string[], { has, fault }: SettingPlace): void {
  const targetsRead = new Set(filesRead.map(linkTarget));
  for (const key of ["state", "history"] as const) {
    const path = kept[key];
    const kind = oddKind(path);
    if (kind) fault({ code: "kept-file-odd", message: `${key} is ${kind}: ${path}`, todo }, key);
    if (has(key) && targetsRead.has(linkTarget(path))) {
      const message = `${key} is a file that this config reads; it would be overwritten`;
      fault({ code: "kept-file-taken", message, todo }, key);
    }
  }
  if (linkTarget(kept.state) === linkTarget(kept.history)) {
    // The defaults differ, so at least one of the two settings is set.
    const [key, other] = has("history") ? ["history", "state"] : ["state", "history"];
    fault({ code: "kept-file-taken", message: `${key} and ${other} name the same file`, todo }, key);
  }
}

const todo = "choose another file, or remove the setting to use the default next to the config";

/**
 * What the path is instead of a plain file. Reading a pipe would block forever, and writing would replace it with a
 * file.
 */
function oddKind(path: string): string | undefined {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    // Opening the file will report the reason.
    return undefined;
  }
  if (!stats || stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
