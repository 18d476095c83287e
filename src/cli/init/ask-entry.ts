import { resolve } from "node:path";
import { parse } from "yaml";
import type { Mapping } from "../../lib/settings/mapping.ts";
import type { CommandIo } from "../io/command-io.ts";
import { asQuestion, canTrust, hasOtherUrl, type KindSetting, settingsOf, settingsToAsk } from "../io/kind-settings.ts";
import { type Asker, type InitQuestion, WrongAnswer } from "./asker.ts";
import { type Settings, type SetupEntry, type SetupFile, secretFile, trustSettings, type YamlValue } from "./files.ts";
import { readFileText, readOptionFile, readTyped } from "./read-option-file.ts";
import { askUrl, type TrustAsker } from "./trust.ts";

export type EntryAsking = {
  /** The name of the entry in the config, and in the names of its files. */
  readonly name: string;
  readonly kind: Mapping<unknown>;
  /** `kind: fritzbox` or `api: cloudflare`. */
  readonly tag: Settings;
  /** The option that sets a setting: `--source-set`. */
  readonly flag: string;
  readonly cliValues: CliValues;
  /** Other options and words for some of the settings. */
  readonly words?: Readonly<Record<string, Partial<InitQuestion>>>;
  readonly askTrust: TrustAsker;
  readonly asker: Asker;
  readonly io: CommandIo;
};

/** Values from the command line, by key. Those of secrets and files are paths. */
export type CliValues = ReadonlyMap<string, string>;

/** `--source-set url=https://192.168.1.1`. */
export function readSettingOptions(flag: string, pairs: readonly string[] = []): CliValues {
  return new Map(
    pairs.map((pair) => {
      const [, key, value] = /^([A-Za-z0-9]+)=(.+)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined)
        // It may be a secret, so it is not repeated.
        throw new WrongAnswer(`${flag} needs a setting and its value, as in ${flag} user=moor`);
      return [key, value];
    }),
  );
}

/** The options that are missing without a terminal. */
export const missingSettings = (kind: Mapping<unknown>, flag: string, cliValues: CliValues): readonly string[] =>
  settingsToAsk(kind)
    .filter((setting) => !cliValues.has(setting.key) && !(hasOtherUrl(kind, setting) && cliValues.has("url")))
    .map(({ key }) => `${flag} ${key}=…`);

/** Asks for the settings of one kind, in the order of its description. */
export async function askEntry(asking: EntryAsking): Promise<SetupEntry> {
  const { name, kind, tag, cliValues, askTrust } = asking;
  const settings: Record<string, YamlValue> = { ...tag };
  const files: SetupFile[] = [];
  const questions = settingsToAsk(kind);
  const others = settingsOf(kind).filter(
    ({ key }) => cliValues.has(key) && !questions.some((each) => each.key === key),
  );
  for (const setting of [...questions, ...others]) {
    if (setting.key === "fingerprint" && canTrust(kind)) continue;
    const answer = await askSetting(setting, asking);
    if (answer === undefined) continue;
    settings[answer.key] = answer.value;
    if (answer.file) files.push(answer.file);
    if (answer.url && canTrust(kind) && !cliValues.has("ca")) {
      const trust = trustSettings(name, await askTrust(answer.url));
      Object.assign(settings, trust.settings);
      files.push(...trust.files);
    }
  }
  const unknown = [...cliValues].filter(([key]) => !kind.keys.includes(key)).map(([key]) => [key, ""] as const);
  return { name, settings: { ...settings, ...Object.fromEntries(unknown) }, files };
}

type AnsweredSetting = {
  readonly key: string;
  readonly value: YamlValue;
  readonly file?: SetupFile;
  readonly url?: URL;
};

async function askSetting(setting: KindSetting, asking: EntryAsking): Promise<AnsweredSetting | undefined> {
  const { kind, flag, cliValues, words = {}, asker, io } = asking;
  const { key, description, example, type, choices, isNeeded } = setting;
  const question: InitQuestion = {
    flag: `${flag} ${key}=${type === "secret" || type === "path" ? "FILE" : example}`,
    cliValue: cliValues.get(key),
    message: asQuestion(description),
    ...(type !== "secret" && { example }),
    ...words[key],
  };
  switch (type) {
    case "url": {
      const url = await askUrl({ ...question, example }, asker);
      return { key, value: url.href, url };
    }
    case "secret":
      return askSecret(setting, question, asking);
    case "path":
      return askFile(setting, question, asking);
    case "choice": {
      const other = hasOtherUrl(kind, setting);
      if (other && cliValues.has("url")) return undefined;
      const listed = choices.map((value) => ({ value, label: value }));
      const more = [
        ...(other && asker.asksAgain ? [{ value: none, label: "another one", hint: "asks for its URL" }] : []),
        ...(other || isNeeded ? [] : [{ value: none, label: "none of these" }]),
      ];
      const picked = await asker.pick({ ...question, choices: [...listed, ...more] });
      if (picked !== none) return { key, value: picked };
      const url = settingsOf(kind).find((each) => other && each.key === "url");
      return url && askSetting(url, asking);
    }
    case "text":
      return { key, value: fromHere(await asker.text(question), io) };
    case "yaml":
      return { key, value: fromHere(yamlValue(await asker.text({ ...question, fault: notYaml })), io) };
    default:
      return type satisfies never;
  }
}

/** A typed path is relative to the current folder; in the config it would be relative to the config's folder. */
function fromHere(value: YamlValue, io: CommandIo): YamlValue {
  if (Array.isArray(value)) return value.map((each: YamlValue) => fromHere(each, io));
  return typeof value === "string" && /^\.{1,2}\//.test(value) ? resolve(io.cwd, value) : value;
}

/** Not a possible value of any setting. */
const none = "+";

/**
 * Lists, such as `[PROGRAM, ARGUMENT]`, mappings, numbers and booleans are read as in the config. Any other text stays
 * as it is.
 */
const yamlValue = (typed: string): YamlValue =>
  /^[[{]|^(?:\d+|true|false)$/.test(typed) ? (parse(typed) as YamlValue) : typed;

function notYaml(typed: string): string | undefined {
  try {
    yamlValue(typed);
    return undefined;
  } catch {
    return "This is not a valid list or mapping; write it like [one, two] or { key: value }.";
  }
}

/** A secret is typed, or in a file whose path is typed. */
async function askSecret(
  { key }: KindSetting,
  question: InitQuestion,
  { name, flag, asker, io }: EntryAsking,
): Promise<AnsweredSetting> {
  const cliSecret =
    question.cliValue === undefined ? undefined : readOptionFile(flagOf(question, flag), question.cliValue, io).trim();
  const read = (typed: string) => (typed === cliSecret ? { text: typed } : readTyped(typed, io));
  const fault = (typed: string) => {
    const typedSecret = read(typed);
    if ("wrong" in typedSecret) return `${typedSecret.wrong} Type the secret, or the path of a file that contains it.`;
    return /\s/.test(typedSecret.text.trim()) ? "A secret has no spaces." : undefined;
  };
  const typed = await asker.secret({ ...question, cliValue: cliSecret, fault });
  const typedSecret = read(typed);
  const file = secretFile(name, key, "text" in typedSecret ? typedSecret.text.trim() : typed);
  return { key, value: { file: file.path }, file };
}

/** The file is copied: it may hold a secret, and its place may be temporary. */
async function askFile(
  { key }: KindSetting,
  question: InitQuestion,
  { name, flag, asker, io }: EntryAsking,
): Promise<AnsweredSetting> {
  const fault = (typed: string) => {
    const read = readFileText(typed, io);
    return "wrong" in read ? `${flagOf(question, flag)} ${typed} ${read.wrong}.` : undefined;
  };
  const read = readFileText(await asker.text({ ...question, fault }), io);
  const file = secretFile(name, key, "text" in read ? read.text : "");
  return { key, value: file.path, file };
}

/** The option without its value. */
const flagOf = ({ flag }: InitQuestion, set: string): string =>
  flag.startsWith(`${set} `) ? flag.replace(/=.*$/, "") : (flag.split(" ")[0] ?? flag);
