import { readFileSync, statSync } from "node:fs";
import { passwordFault } from "../../access/password.ts";
import { shellWord } from "../../core/shell-word.ts";
import { isUtf16, withoutMark } from "../../core/utf8-text.ts";
import { hasControls } from "../../core/visible-text.ts";
import { mapping } from "../../lib/settings/mapping.ts";
import { path, refined, type Setting, type SettingPlace, text, typeInWords } from "../../lib/settings/setting.ts";
import type { FaultDetail } from "../../lib/settings/yaml-reader.ts";

/** A function, so that printing or logging a config by mistake shows no secret. */
export type Secret = () => string;

type Half = "key" | "secret";

/**
 * `{ file: path }` or `{ env: NAME }`: any text on one line, for protocols that encode it (JSON, Basic authentication,
 * a query, a signature). `line` is the one to look for in a downloaded `key=…`, `secret=…` file.
 */
export const secret = (description: string, line?: Half): Setting<Secret> =>
  secretOf(description, (content, place) => oneLine((line && downloadedLine(content, line)) ?? content, place));

/** For a token in an HTTP header. */
export const headerSecret = (description: string): Setting<Secret> =>
  secretOf(description, (content, place) => visibleAscii(content.trim(), place));

/** For a key that people choose, and that is the whole value of an HTTP header. */
export const spacedHeaderSecret = (description: string): Setting<Secret> =>
  secretOf(description, (content, place) => {
    const value = content.trim();
    if (/^[\x20-\x7e]+$/.test(value)) return () => value;
    return bad(value, "a line break or a character that is not ASCII, which an HTTP header cannot carry", place);
  });

/** A password that people type; its first line counts, and may contain spaces. */
export const password = (description: string): Setting<Secret> =>
  secretOf(description, (content, place) => {
    const [typed = ""] = content.split(/\r?\n/, 1);
    const weak = passwordFault(typed, "");
    if (weak === undefined) return () => typed;
    return place.fault({ code: "weak-password", message: `${place.what} is not safe`, todo: weak });
  });

type Accept = (content: string, place: SettingPlace) => Secret | undefined;

function secretOf(description: string, accept: Accept): Setting<Secret> {
  const place = mapping(
    {
      file: path("A file that contains only the secret.", "secrets/token"),
      env: text("An environment variable that contains the secret.", "DNS_TOKEN"),
    },
    {
      checkKeys: (presentKeys, what) =>
        presentKeys.includes("file") !== presentKeys.includes("env") ? [] : [notOnePlace(what)],
      transform: ({ file, env = "" }, at) =>
        file === undefined ? fromEnvironment(env, below(at, "env"), accept) : fromFile(file, below(at, "file"), accept),
    },
  );
  return {
    schema: {
      ...place.schema,
      description,
      minProperties: 1,
      maxProperties: 1,
      examples: [{ file: "secrets/token" }],
      [typeInWords]: "secret",
    },
    read: (at, what, reading) =>
      reading.pairs(at) ? place.read(at, what, reading) : reading.fault(at, inConfigItself(what)),
  };
}

const below = (place: SettingPlace, key: string): SettingPlace => ({
  ...place,
  fault: (detail) => place.fault(detail, key),
});

const notOnePlace = (what: string) => ({
  code: "secret-place",
  message: `${what} needs exactly one of file and env`,
  todo: "write { file: path } or { env: NAME }",
  skip: ["file", "env"],
});

const inConfigItself = (what: string): FaultDetail => ({
  code: "secret-in-config",
  message: `${what} is in the config itself`,
  todo: "put it in a separate file and write { file: path }, or in an environment variable and write { env: NAME }",
});

/** Both halves of an API key, from the file that OPNsense offers for download. */
export const keyFile = (description: string): Setting<{ readonly key: Secret; readonly secret: Secret }> =>
  refined(path(description, "secrets/firewall-key.txt"), (file, place) => {
    const content = readTextFile(file, place);
    if (content === undefined) return undefined;
    if (!isDownloaded(content)) {
      return place.fault({
        code: "bad-secret",
        message: `${place.what} has no lines key=… and secret=…`,
        todo: "use the file downloaded from OPNsense or written by `moor key add --to`, or set `key:` and `secret:`",
      });
    }
    const half = (line: Half) =>
      fromFile(file, { ...place, what: `the ${line} in ${place.what}` }, (text, at) =>
        oneLine(downloadedLine(text, line) ?? "", at),
      );
    const key = half("key");
    const secret = key && half("secret");
    return secret && { key, secret };
  });

export function readTextFile(path: string, { what, reading, fault }: SettingPlace): string | undefined {
  const absolute = reading.resolve(path);
  reading.sawFile(absolute);
  try {
    const content = withoutMark(readFileSync(absolute, "utf8"));
    return isUtf16(content) ? fault({ ...utf16, message: `${what}: ${path} is not UTF-8` }) : content;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    return code === "ENOENT"
      ? fault({
          code: "missing-file",
          message: `${what}: there is no file ${path}`,
          todo: "create it, or correct the path (it is relative to the config's folder)",
        })
      : fault({
          code: "unreadable-file",
          message: `${what}: ${path} cannot be read (${code})`,
          todo: unreadableTodo(code),
        });
  }
}

export const utf16 = { code: "not-utf-8", todo: "save it as UTF-8" } as const;

/** What to do about a file that exists but cannot be read. */
export const unreadableTodo = (code: string): string =>
  code === "EISDIR" ? "it is a folder: give a file" : "fix its permissions";

function fromFile(path: string, place: SettingPlace, accept: Accept): Secret | undefined {
  const content = readSecretFile(path, place);
  return content === undefined ? undefined : accept(content, place);
}

/** Warns if others can read the file too. */
export function readSecretFile(path: string, place: SettingPlace): string | undefined {
  const content = readTextFile(path, place);
  if (content === undefined) return undefined;
  const absolute = place.reading.resolve(path);
  if ((statSync(absolute).mode & 0o077) !== 0) {
    place.reading.warn(`${path} can be read by other users of this machine; run: chmod 600 ${shellWord(absolute)}`);
  }
  return content;
}

/** Undefined if the file does not have the downloaded format; empty if it does but lacks this line. */
function downloadedLine(content: string, line: Half): string | undefined {
  if (!isDownloaded(content)) return undefined;
  return new RegExp(`^${line}=(.*)$`, "m").exec(content)?.[1]?.trim() ?? "";
}

const isDownloaded = (content: string): boolean => /^(key|secret)=/m.test(content);

function fromEnvironment(name: string, place: SettingPlace, accept: Accept): Secret | undefined {
  const value = place.reading.env[name];
  if (value !== undefined) return accept(value, place);
  return place.fault({
    code: "missing-env",
    message: `${place.what}: the environment variable ${name} is not set`,
    todo: "set it for this process, or use { file: path }",
  });
}

/** Spaces at the ends are kept, because they may belong to it. No message contains the value. */
function oneLine(content: string, place: SettingPlace): Secret | undefined {
  const value = content.replace(/^[\r\n]+|[\r\n]+$/g, "");
  if (value.trim() === "" || hasControls(value)) return bad(value, "a line break or a control character", place);
  if (value !== value.trim()) place.reading.warn(`${place.what} begins or ends with a space, which moor sends too`);
  return () => value;
}

/** HTTP headers carry visible ASCII only; anything else means the wrong file. */
function visibleAscii(value: string, place: SettingPlace): Secret | undefined {
  if (/^[\x21-\x7e]+$/.test(value)) return () => value;
  return bad(value, "a space, a line break or another character that is not visible ASCII", place);
}

const bad = (value: string, lack: string, { what, fault }: SettingPlace): undefined =>
  fault({
    code: "bad-secret",
    message: value.trim() === "" ? `${what} is empty` : `${what} contains ${lack}`,
    todo: "put only the secret there",
  });
