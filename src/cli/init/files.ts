import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { HttpTrust } from "../../lib/http-client/endpoint.ts";
import { giveToOwnerOf } from "../../process/data-folder.ts";

/** What to trust: the system's authorities, one certificate, or one authority. */
export type ShownTrust = Exclude<HttpTrust, { readonly kind: "insecure" }>;

/** Everything that `moor init` writes, from answers or from the file of another program. */
export type Setup = {
  readonly sources: readonly SetupEntry[];
  readonly targets: readonly SetupEntry[];
  readonly names: readonly SetupName[];
  readonly interval: string;
  /** Publish only addresses that can be reached from the internet. */
  readonly onlyPublic: boolean;
  /** Where the updater listens, its token, and the password of its page if other machines can reach it. */
  readonly control?: { readonly listen: string; readonly token: string; readonly password?: string };
};

/** An entry of `names:`. */
export type SetupName = Settings & { readonly name: string; readonly zone: string };

/** An entry of `sources:` or `targets:`, with the files that it refers to. */
export type SetupEntry = {
  readonly name: string;
  readonly settings: Settings;
  readonly files: readonly SetupFile[];
};

export type Settings = Readonly<Record<string, YamlValue>>;
export type YamlValue = string | number | boolean | readonly YamlValue[] | { readonly [key: string]: YamlValue };

/** The path is relative to the config's folder. */
export type SetupFile = { readonly path: string; readonly text: string };

/** A file for a secret of an entry. */
export const secretFile = (entry: string, what: string, text: string): SetupFile => ({
  path: `secrets/${entry}-${what}`,
  text: text.endsWith("\n") ? text : `${text}\n`,
});

/** The settings with which an entry trusts a service, and the file that they refer to. */
export function trustSettings(entry: string, trust: ShownTrust): Pick<SetupEntry, "settings" | "files"> {
  if (trust.kind === "fingerprint") return { settings: { fingerprint: trust.sha256 }, files: [] };
  if (trust.kind === "system") return { settings: {}, files: [] };
  const file = secretFile(entry, "ca.pem", trust.pem);
  return { settings: { ca: file.path }, files: [file] };
}

/** The config of `packaging/systemd/moor-update.service`, and the only folder that this unit can write to. */
export const serviceConfig = "/etc/moor/moor.yaml";
const serviceState = "/var/lib/moor";

/** The secrets, and the config last. */
export function setupFiles(setup: Setup, config: string): readonly SetupFile[] {
  const { sources, targets, control } = setup;
  return [
    ...[...sources, ...targets].flatMap(({ files }) => files),
    ...(control ? [{ path: "secrets/control-token", text: `${control.token}\n` }] : []),
    ...(control?.password ? [{ path: pagePassword, text: `${control.password}\n` }] : []),
    { path: basename(config), text: printConfig(setup, config === serviceConfig ? serviceState : undefined) },
  ];
}

function printConfig(setup: Setup, stateFolder: string | undefined): string {
  const { sources, targets, names, interval, onlyPublic, control } = setup;
  const state = stateFolder ? `state: ${stateFolder}/state.json\nhistory: ${stateFolder}/history.jsonl\n` : "";
  const entries = (all: readonly SetupEntry[]) =>
    all.map(({ name, settings }) => `  ${name}:\n${printLines(settings)}`).join("");
  return `# Written by \`moor init\`. moor.sample.yaml and docs/config.md describe all settings.
interval: ${interval}
${onlyPublic ? "# Publish only addresses that can be reached from the internet.\npublic: require\n" : ""}\
# Limits the writes when the connection is unstable.
changesPerHour: 30
# Reads the records this often, and corrects them if someone else changed them.
verify: 1h
${state}sources:
${entries(sources)}targets:
${entries(targets)}names:
${names.map((name) => printLines(name).replace(/^ {4}/, "  - ")).join("")}${control ? printControl(control) : ""}`;
}

const printLines = (settings: Settings): string =>
  Object.entries(settings)
    .map(([key, value]) => `    ${key}: ${printValue(value, key)}\n`)
    .join("");

/**
 * Texts are quoted, because YAML reads many words as something else; the words and paths that moor chose need no
 * quotes.
 */
export function printValue(value: YamlValue, key = ""): string {
  if (typeof value === "string")
    return ["kind", "api"].includes(key) || /^secrets\/[\w.-]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map((each) => printValue(each)).join(", ")}]`;
  const pairs = Object.entries(value).map(([inner, each]) => `${inner}: ${printValue(each, inner)}`);
  return `{ ${pairs.join(", ")} }`;
}

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value);

export const pagePassword = "secrets/page-password";

const printControl = ({ listen, password }: NonNullable<Setup["control"]>): string =>
  password === undefined
    ? `# Only on this machine: the page, /status, /metrics and /health; POST /check needs the token. With
# \`password: { file: … }\`, names can be changed on the page, and \`listen:\` may be an address that other machines can reach.
control: { listen: ${JSON.stringify(listen)}, token: { file: secrets/control-token } }
`
    : `# The page, for anyone with the password. /status and /metrics need the password or the token, POST /check the token, /health neither.
control: { listen: ${JSON.stringify(listen)}, token: { file: secrets/control-token }, password: { file: ${pagePassword} } }
`;

/** `discard` also removes the folders that were made for the draft, if they are empty. */
export type ConfigDraft = { readonly folder: string; readonly discard: () => Promise<void> };

/** Written to a temporary folder first, so that a round can be tried before anything is final. */
export async function writeDraft(folder: string, files: readonly SetupFile[]): Promise<ConfigDraft> {
  const made = await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(join(folder, ".moor-init-"));
  const discard = async () => {
    await rm(draft, { recursive: true, force: true });
    if (made !== undefined) await removeEmpty(folder, made);
  };
  try {
    await chmod(draft, 0o700);
    await writeFiles(draft, files);
  } catch (error) {
    await discard();
    throw error;
  }
  return { folder: draft, discard };
}

/** The folder and those above it, up to `top`. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  const isGone = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (isGone && folder !== top) await removeEmpty(dirname(folder), top);
}

export async function writeFiles(folder: string, files: readonly SetupFile[]): Promise<void> {
  for (const { path, text } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
  }
}

/**
 * Puts each file in its place; the config last, so that it never refers to a missing secret. In a folder of another
 * user, the files that root writes belong to that user, so that a service of that user can read them.
 */
export async function adoptDraft(draft: string, folder: string, files: readonly SetupFile[]): Promise<void> {
  for (const { path } of files) {
    const file = join(folder, path);
    const made = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    if (made !== undefined) await giveToOwnerOf(folder, made);
    await giveToOwnerOf(folder, join(draft, path));
    await rename(join(draft, path), file);
  }
}

/** The files that would be overwritten. */
export const inTheWay = (folder: string, files: readonly SetupFile[]): readonly string[] =>
  files.map(({ path }) => join(folder, path)).filter((file) => existsSync(file));

export const shownPath = (cwd: string, path: string): string => {
  const short = relative(cwd, path) || ".";
  return short.startsWith("..") ? path : short;
};
