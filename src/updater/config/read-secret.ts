import { readFileSync, statSync } from "node:fs";
import { shellWord } from "../../process/shell-word.ts";
import { isUtf16, withoutMark } from "../../process/utf8-text.ts";
import type { Secret } from "./config.ts";
import type { Spot, YamlReader } from "./yaml-reader.ts";

/** Where secrets and other files named in a config come from. Every secret is read when the config is, and again with it. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A path as written in the config, made absolute. */
  readonly resolve: (path: string) => string;
  readonly warn: (text: string) => void;
  /** Told of every file before it is read, by its absolute path. */
  readonly sawFile: (path: string) => void;
};

/** `{ file: path }` or `{ env: NAME }`. `line` is the key to look for in a downloaded `key=…`, `secret=…` file. */
export function readSecret(
  yaml: YamlReader,
  at: Spot,
  what: string,
  surroundings: Surroundings,
  line?: "key" | "secret",
): Secret | undefined {
  if (!yaml.isMapping(at)) {
    return yaml.fault(at, {
      code: "secret-in-config",
      message: `${what} stands in the config itself`,
      todo: "keep it in a file of its own and write { file: path }, or { env: NAME } for an environment variable",
    });
  }
  const fields = yaml.fields(at, what, ["file", "env"]);
  const file = fields?.get("file");
  const env = fields?.get("env");
  if (!fields || (file && env) || (!file && !env)) {
    return yaml.fault(at, {
      code: "secret-place",
      message: `${what} needs exactly one of file and env`,
      todo: "write { file: path } or { env: NAME }",
    });
  }
  if (file) return fromFile(yaml, file, what, surroundings, line);
  return env && fromEnvironment(yaml, env, what, surroundings);
}

/** Both halves out of the one file that OPNsense lets its user download. */
export function readKeyFile(yaml: YamlReader, at: Spot, what: string, surroundings: Surroundings) {
  const text = readTextFile(yaml, at, what, surroundings);
  if (text === undefined) return undefined;
  if (!isDownloaded(text)) {
    return yaml.fault(at, {
      code: "bad-secret",
      message: `${what} has no lines key=… and secret=…`,
      todo: "name the file that an OPNsense lets you download or `moor key add --to` wrote; or use `key:` and `secret:`",
    });
  }
  const key = fromFile(yaml, at, `the key in ${what}`, surroundings, "key");
  return key && { key, secret: fromFile(yaml, at, `the secret in ${what}`, surroundings, "secret") };
}

export function readTextFile(yaml: YamlReader, at: Spot, what: string, around: Surroundings): string | undefined {
  const path = yaml.text(at, what);
  if (path === undefined) return undefined;
  const absolute = around.resolve(path);
  around.sawFile(absolute);
  try {
    const text = withoutMark(readFileSync(absolute, "utf8"));
    return isUtf16(text) ? yaml.fault(at, { ...utf16, message: `${what}: ${path} is not UTF-8` }) : text;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    return yaml.fault(at, {
      code: code === "ENOENT" ? "missing-file" : "unreadable-file",
      message: code === "ENOENT" ? `${what}: there is no file ${path}` : `${what}: ${path} cannot be read (${code})`,
      todo: code === "ENOENT" ? "make it, or mend the path (it starts at the config's folder)" : toMend(code),
    });
  }
}

export const utf16 = { code: "not-utf-8", todo: "save it again as UTF-8" } as const;

/** What to do about a file that is there and cannot be read. */
export const toMend = (code: string): string =>
  code === "EISDIR" ? "it is a folder: name a file" : "mend its permissions";

function fromFile(
  yaml: YamlReader,
  at: Spot,
  what: string,
  surroundings: Surroundings,
  line?: "key" | "secret",
): Secret | undefined {
  const text = readTextFile(yaml, at, what, surroundings);
  if (text === undefined) return undefined;
  const path = yaml.text(at, what) ?? "";
  if ((statSync(surroundings.resolve(path)).mode & 0o077) !== 0) {
    surroundings.warn(
      `${path} can be read by other users of this machine; type: chmod 600 ${shellWord(surroundings.resolve(path))}`,
    );
  }
  return checked(yaml, at, what, (line && downloadedLine(text, line)) ?? text.trim());
}

/** Undefined when the file is not in the downloaded form; empty when it is, and this line is missing. */
function downloadedLine(text: string, line: "key" | "secret"): string | undefined {
  if (!isDownloaded(text)) return undefined;
  return new RegExp(`^${line}=(.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
}

const isDownloaded = (text: string): boolean => /^(key|secret)=/m.test(text);

function fromEnvironment(yaml: YamlReader, at: Spot, what: string, { env }: Surroundings): Secret | undefined {
  const name = yaml.text(at, what);
  if (name === undefined) return undefined;
  const value = env[name];
  if (value !== undefined) return checked(yaml, at, what, value.trim());
  return yaml.fault(at, {
    code: "missing-env",
    message: `${what}: the environment variable ${name} is not set`,
    todo: "set it for this process, or use { file: path }",
  });
}

/** HTTP headers carry visible ASCII only; anything else means the wrong file. The value itself is never said. */
function checked(yaml: YamlReader, at: Spot, what: string, value: string): Secret | undefined {
  if (/^[\x21-\x7e]+$/.test(value)) return () => value;
  return yaml.fault(at, {
    code: "bad-secret",
    message: value === "" ? `${what} is empty` : `${what} holds more than one word or line`,
    todo: "put the secret and nothing else there",
  });
}
