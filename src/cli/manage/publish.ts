import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isObject } from "../../core/is-object.ts";
import { parseZoneName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import { call, type JsonFields, listAll, type ManageOptions, type RecordsApi, write } from "./records-api.ts";
import { withApi } from "./with-api.ts";

/** At which provider a zone is published, and how. */
export type PublishOptions = {
  readonly publish?: string;
  readonly publishName?: string;
  readonly publishToken?: string;
  readonly publishUrl?: string;
  readonly publishCa?: string;
  readonly fill: "theirs" | "ours";
  readonly drift: "ask" | "ours" | "theirs";
  readonly yes?: boolean;
};

/** Shows what publishing the zone would change, and publishes it with `--yes`. */
export async function publishZone(
  api: RecordsApi,
  zone: string,
  kind: string,
  options: PublishOptions & ManageOptions,
  io: CommandIo,
): Promise<number> {
  const provider = options.publishName ?? kind;
  const clash = await storeProvider(api, provider, kind, options, io);
  if (clash !== undefined) return refuse(1, clash, io);
  const { body } = await call(
    api,
    "GET",
    `/zones/${zone}/publication/preview?provider=${encodeURIComponent(provider)}`,
  );
  const preview = isObject(body.preview) ? body.preview : {};
  if (options.yes !== true) {
    io.out(options.json ? `${JSON.stringify(preview, undefined, 2)}\n` : previewText(zone, preview, options));
    return 0;
  }
  const { fill, drift } = options;
  const request = { provider, digest: preview.digest, fill, drift };
  const written = await write(api, "POST", `/zones/${zone}/actions/publish`, { body: request, signal: io.signal });
  const { publication } = written.body;
  if (options.json) io.out(`${JSON.stringify(publication, undefined, 2)}\n`);
  else io.out(`${nameToUnicode(zone)} is published at ${String(preview.service)} from now on.\n`);
  return 0;
}

/**
 * A token that is given again replaces the old one. Returns why it does not: it must not be sent to another service.
 */
async function storeProvider(
  api: RecordsApi,
  name: string,
  kind: string,
  { publishToken, publishUrl: url, publishCa }: PublishOptions,
  io: CommandIo,
): Promise<string | undefined> {
  if (publishToken === undefined) return undefined;
  const token = (await readFile(resolve(io.cwd, publishToken), "utf8")).trim();
  const ca = publishCa === undefined ? undefined : await readFile(resolve(io.cwd, publishCa), "utf8");
  const body = { name, kind, token, url, ca };
  const { status } = await call(api, "POST", "/providers", { body, expected: [409] });
  if (status !== 409) return undefined;
  const { providers } = (await call(api, "GET", "/providers")).body;
  const stored = Array.isArray(providers) ? providers.filter(isObject).find((each) => each.name === name) : undefined;
  if (stored !== undefined && (stored.kind !== kind || !isSameUrl(url, String(stored.url))))
    return `there is already an account "${name}" at another service (${String(stored.kind)}, ${String(stored.url)}); choose another name with --publish-name`;
  await call(api, "POST", `/providers/${name}/actions/replace_token`, { body: { token } });
  return undefined;
}

const isSameUrl = (typed: string | undefined, stored: string): boolean =>
  typed === undefined || (URL.canParse(typed) && new URL(typed).href === new URL(stored).href);

function previewText(zone: string, preview: JsonFields, { fill }: PublishOptions): string {
  const there = String(preview.service);
  const sets = (key: string): readonly JsonFields[] =>
    Array.isArray(preview[key]) ? preview[key].filter(isObject) : [];
  const isTheirs = fill === "theirs";
  const [here, elsewhere] = isTheirs
    ? ["deleted here", "created here"]
    : [`created at ${there}`, `deleted at ${there}`];
  const change = isTheirs ? "replaced here" : `replaced at ${there}`;
  const rows = [
    ...sets("only_here").map((set) => [...nameOf(set), here]),
    ...sets("only_there").map((set) => [...nameOf(set), elsewhere]),
    ...sets("different").map((set) => [...nameOf(set), change]),
    ...sets("left").map((set) => [...nameOf(set), `stays at ${there}: ${String(set.because)}`]),
    ...(isTheirs
      ? []
      : sets("not_allowed").map((set) => [...nameOf(set), `cannot be published: ${String(set.because)}`])),
  ];
  const equal = `${String(preview.equal)} sets of ${nameToUnicode(zone)} are the same here and at ${there}.\n`;
  const table = rows.length === 0 ? "" : printTable(["NAME", "TYPE", "WHAT HAPPENS"], rows);
  return `${equal}${table}No record was changed. To publish the zone, repeat the command with --yes.\n`;
}

const nameOf = ({ name, type }: JsonFields): readonly string[] => [nameToUnicode(String(name)), String(type)];

/** `moor zone state`: how far a zone is published at its provider. */
export async function zoneState(typed: string, options: ManageOptions, io: CommandIo): Promise<number> {
  const zone = parseTyped(parseZoneName, typed, "ZONE");
  if (!zone.ok) {
    printFaults(zone.faults, io);
    return 2;
  }
  return await withApi(options, io, async (api) => {
    const { publication } = (await call(api, "GET", `/zones/${zone.value}/publication`)).body;
    if (!isObject(publication)) return refuse(1, `${typed} is not published at a provider`, io);
    const states = ["waiting", "refused", "drifted"].map((state) => `state=${state}`).join("&");
    const sets = await listAll(api, `/zones/${zone.value}/publication/sets?${states}`, "sets", 1_000);
    if (options.json) io.out(`${JSON.stringify({ publication, sets }, undefined, 2)}\n`);
    else io.out(stateText(publication, sets));
    return 0;
  });
}

function stateText(publication: JsonFields, sets: readonly JsonFields[]): string {
  const counts = isObject(publication.counts) ? publication.counts : {};
  const words = Object.entries(counts).map(([state, count]) => `${String(count)} ${state}`);
  const trouble = isObject(publication.trouble) ? `${String(publication.trouble.text)}\n` : "";
  const rows = sets.map((set) => [
    ...nameOf(set),
    String(set.state),
    typeof set.because === "string" ? set.because : "",
  ]);
  const table = rows.length === 0 ? "" : printTable(["NAME", "TYPE", "STATE", "WHY"], rows);
  return `At ${String(publication.service)}: ${words.join(", ")}\n${trouble}${table}`;
}

/** `moor provider list`. */
export const providerList = (options: ManageOptions, io: CommandIo): Promise<number> =>
  withApi(options, io, async (api) => {
    const { providers } = (await call(api, "GET", "/providers")).body;
    const all = Array.isArray(providers) ? providers.filter(isObject) : [];
    const rows = all.map(({ name, kind, url, zones }) => [name, kind, url, zones].map(String));
    if (options.json) io.out(`${JSON.stringify(all, undefined, 2)}\n`);
    else io.out(rows.length === 0 ? "There are no providers.\n" : printTable(["NAME", "KIND", "URL", "ZONES"], rows));
    return 0;
  });

/** `moor provider replace-token`: takes effect without a restart. */
export const providerReplaceToken = (
  name: string,
  file: string,
  options: ManageOptions,
  io: CommandIo,
): Promise<number> =>
  withApi(options, io, async (api) => {
    const token = (await readFile(resolve(io.cwd, file), "utf8")).trim();
    await call(api, "POST", `/providers/${encodeURIComponent(name)}/actions/replace_token`, { body: { token } });
    io.out(`Replaced the token of ${name}\n`);
    return 0;
  });

/** `moor provider remove`. */
export const providerRemove = (name: string, options: ManageOptions, io: CommandIo): Promise<number> =>
  withApi(options, io, async (api) => {
    await call(api, "DELETE", `/providers/${encodeURIComponent(name)}`);
    io.out(`Removed ${name}\n`);
    return 0;
  });
