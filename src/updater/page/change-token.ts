import { dirname, resolve } from "node:path";
import { parseDocument } from "yaml";
import type { TokenPlace } from "../../contract/updater-page.ts";
import { isObject } from "../../core/is-object.ts";
import { linkTarget, replaceKeeping } from "../../process/data-folder.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { readConfigFile, readOnly, whyNotWritable } from "./config-file.ts";

export type TokenOutcome = { readonly kind: "written" } | { readonly kind: "impossible"; readonly because: string };

/** Replaces the token of a record service in the file that the config names for it. No answer contains a token. */
export async function writeToken(config: UpdaterConfig, service: string, typed: string): Promise<TokenOutcome> {
  const token = typed.trim();
  if (!isToken(token)) return { kind: "impossible", because: notAToken };
  const place = (await tokenPlaces(config)).find((each) => each.service === service);
  if (place === undefined) return { kind: "impossible", because: `The config has no target ${service}.` };
  if (place.kind !== "file") return { kind: "impossible", because: place.todo };
  const file = linkTarget(place.file);
  try {
    await replaceKeeping(file, `${token}\n`, () => undefined);
    return { kind: "written" };
  } catch (error) {
    return { kind: "impossible", because: readOnly(file, error as NodeJS.ErrnoException) };
  }
}

/** Where the token of each record service comes from. */
export async function tokenPlaces(config: UpdaterConfig): Promise<readonly TokenPlace[]> {
  const entries = targetsIn(await readConfigFile(config.file).catch(() => ""));
  return Promise.all([...config.targets.keys()].map((service) => placeOf(service, entries[service], config.file)));
}

/** As the config accepts it: visible ASCII, because it is sent in an HTTP header. */
const isToken = (text: string): boolean => /^[\x21-\x7e]{1,8000}$/.test(text);

const notAToken =
  "This is not a token: it is empty, or contains a space, a line break or another character that is not visible ASCII. Copy only the token.";

type Settings = Readonly<Record<string, unknown>>;

function targetsIn(text: string): Settings {
  try {
    const { targets } = (parseDocument(text).toJS() ?? {}) as { readonly targets?: unknown };
    return isObject(targets) ? targets : {};
  } catch {
    // An alias without its anchor: the config in force was read before this was written.
    return {};
  }
}

async function placeOf(service: string, entry: unknown, config: string): Promise<TokenPlace> {
  const { token, ...others } = isObject(entry) ? entry : ({} as Settings);
  const file = fileOf(token);
  if (file === undefined) return { kind: "elsewhere", service, todo: todoFor({ token, ...others }, service, config) };
  const path = resolve(dirname(config), file);
  const todo = await whyNotWritable(path, "token");
  return todo === undefined ? { kind: "file", service, file: path } : { kind: "elsewhere", service, todo };
}

const fileOf = (setting: unknown): string | undefined =>
  isObject(setting) && typeof setting["file"] === "string" ? setting["file"] : undefined;

/** Which settings hold its secrets, and where their values come from. */
function todoFor(settings: Settings, service: string, config: string): string {
  const places = Object.entries(settings).flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    const { file, env } = value;
    if (typeof env === "string") return [`the environment variable ${env} (\`${key}:\`), then restart the updater`];
    return typeof file === "string" ? [`the file ${resolve(dirname(config), file)} (\`${key}:\`)`] : [];
  });
  return places.length === 0
    ? `Change the credentials of \`${service}\` under \`targets:\` in ${config}.`
    : `Put the new value into ${places.join(", and into ")}.`;
}
