import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isObject } from "../../core/is-object.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printList, printTable } from "../io/print-table.ts";
import { call, type JsonFields, listAll, type ManageOptions, write, zonePath } from "./records-api.ts";
import { withApi, withZone } from "./with-api.ts";

/** At which provider a zone is published, and how. */
export type PublishOptions = ManageOptions & {
  readonly name?: string;
  readonly token?: string;
  readonly url?: string;
  readonly ca?: string;
  readonly fill: "theirs" | "ours";
  readonly drift: "ask" | "ours";
  readonly yes?: boolean;
};

/** `moor zone publish`: shows what publishing the zone would change, and publishes it with `--yes`. */
export async function zonePublish(
  typed: string,
  kind: string,
  options: PublishOptions,
  io: CommandIo,
): Promise<number> {
  const unused = (["url", "ca"] as const).find((each) => options.token === undefined && options[each] !== undefined);
  if (unused !== undefined) return refuse(2, `--${unused} is stored with a token: add --token`, io);
  return await withZone(typed, options, io, async (api, zone) => {
    const { fill, drift } = options;
    const wanted = { provider: options.name ?? kind, create: true, ...(await accountIn(kind, options, io)) };
    const { body } = await call(api, "POST", `${zonePath(zone)}/publication/preview`, { body: wanted });
    const preview = isObject(body.preview) ? body.preview : {};
    const reasons = isObject(preview.refused) ? preview.refused[fill] : undefined;
    const refusals = Array.isArray(reasons) ? reasons.map(String) : [];
    if (options.yes !== true) {
      io.out(options.json ? `${JSON.stringify(preview, undefined, 2)}\n` : previewText(zone, preview, options));
      return refusals.length === 0 ? 0 : refuse(1, `It cannot be published: ${refusals.join("; ")}`, io);
    }
    const request = { ...wanted, digest: preview.digest, fill, drift };
    const written = await write(api, "POST", `${zonePath(zone)}/actions/publish`, { body: request, signal: io.signal });
    const { publication } = written.body;
    if (options.json) io.out(`${JSON.stringify(publication, undefined, 2)}\n`);
    else io.out(`${nameToUnicode(zone)} is published at ${String(preview.service)} from now on.\n`);
    return 0;
  });
}

async function accountIn(kind: string, { token, url, ca }: PublishOptions, io: CommandIo) {
  if (token === undefined) return {};
  const read = async (file: string) => await readFile(resolve(io.cwd, file), "utf8");
  return {
    account: { kind, token: (await read(token)).trim(), url, ca: ca === undefined ? undefined : await read(ca) },
  };
}

/** `moor zone unpublish`. */
export const zoneUnpublish = (
  typed: string,
  options: ManageOptions & { readonly yes?: boolean },
  io: CommandIo,
): Promise<number> =>
  withZone(typed, options, io, async (api, zone) => {
    const { publication } = (await call(api, "GET", `${zonePath(zone)}/publication`)).body;
    if (!isObject(publication)) return refuse(1, `${typed} is not published at a provider`, io);
    const service = String(publication.service);
    if (options.yes !== true)
      return refuse(
        2,
        `Changes here will no longer reach ${service}, which keeps its records; to confirm, add --yes`,
        io,
      );
    await write(api, "POST", `${zonePath(zone)}/actions/unpublish`, { body: {}, signal: io.signal });
    io.out(
      options.json
        ? `${JSON.stringify({ zone, changed: true })}\n`
        : `${nameToUnicode(zone)} is not published any more; ${service} keeps its records.\n`,
    );
    return 0;
  });

export type PublicationSettings = ManageOptions & { readonly drift?: "ask" | "ours"; readonly readEvery?: number };

/** `moor zone set`. */
export async function zoneSet(typed: string, options: PublicationSettings, io: CommandIo): Promise<number> {
  const { drift, readEvery } = options;
  if (drift === undefined && readEvery === undefined) return refuse(2, "Give --drift or --read-every", io);
  return await withZone(typed, options, io, async (api, zone) => {
    const body = { drift, read_every: readEvery };
    const path = `${zonePath(zone)}/actions/change_publication`;
    const { publication } = (await write(api, "POST", path, { body, signal: io.signal })).body;
    const { drift: rule, read_every: seconds, service } = isObject(publication) ? publication : {};
    const every = seconds === 0 ? "is never read" : `is read every ${String(seconds)} seconds`;
    const words = rule === "ours" ? "ours is put back" : "it is shown, and you decide";
    io.out(
      options.json
        ? `${JSON.stringify(publication, undefined, 2)}\n`
        : `If somebody changes a set at ${String(service)}, ${words}. The zone there ${every}.\n`,
    );
    return 0;
  });
}

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
  return `${equal}${table}Nothing was changed or stored. To publish the zone, repeat the command with --yes.\n`;
}

const nameOf = ({ name, type }: JsonFields): readonly string[] => [nameToUnicode(String(name)), String(type)];

/** `moor zone state`: how far a zone is published at its provider. */
export const zoneState = (typed: string, options: ManageOptions, io: CommandIo): Promise<number> =>
  withZone(typed, options, io, async (api, zone) => {
    const { publication } = (await call(api, "GET", `${zonePath(zone)}/publication`)).body;
    if (!isObject(publication)) return refuse(1, `${typed} is not published at a provider`, io);
    const states = ["waiting", "refused", "drifted"].map((state) => `state=${state}`).join("&");
    const sets = await listAll(api, `${zonePath(zone)}/publication/sets?${states}`, "sets", 1_000);
    if (options.json) io.out(`${JSON.stringify({ publication, sets }, undefined, 2)}\n`);
    else io.out(stateText(publication, sets));
    return 0;
  });

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
    const heads = ["NAME", "KIND", "URL", "ZONES"];
    return printList({ json: options.json, forPrograms: all, heads, rows, none: "There are no providers." }, io);
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
