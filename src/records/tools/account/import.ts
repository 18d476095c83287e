import { hash } from "node:crypto";
import type { Network } from "../../../core/addresses/network.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex, enclosing, parseZoneName } from "../../../core/names/name.ts";
import { checkNewSets } from "../../../core/records/check-new-sets.ts";
import { checkZone } from "../../../core/records/check-zone.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { serialOf } from "../../../core/records/serial.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import { parseZoneFile } from "../../../core/zone-file/parse.ts";
import { type FileSet, placeInFile } from "../../../core/zone-file/sets.ts";
import { createdBy, createZoneRule } from "../../commands/zones/create-delete.ts";
import { reservedName, zoneNotCreated } from "../../commands/zones/zone-names.ts";
import type { Account, Zone } from "../../model.ts";
import { newZoneId } from "../../new-id.ts";
import type { NotCreated, RecordStore } from "../../store/port.ts";
import { fileFault, manifestFile, readManifest, type SetBeyond, type ZoneEntry } from "./manifest.ts";
import { faultsOfZones, type NamedScope, readTokens } from "./meaning.ts";
import { firstContent, type ImportedZone, importer, replaceZoneRule } from "./replace-zone.ts";

/**
 * What prevents the import: existing zones of other accounts, existing zones of this account unless `replace` is set,
 * and names that the account may not have. `account` is undefined if it does not exist yet.
 */
export async function importObstacles(
  store: RecordStore,
  account: Account | undefined,
  zones: readonly ReadZone[],
  replace: boolean,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const names = new Set(zones.map(({ entry }) => entry.name));
  for (const { entry } of zones) {
    const { name } = entry;
    const newZone = { name, account: account?.id ?? nobody, reserved: await reservedName(name) };
    const obstacle = await store.obstacleTo(newZone);
    // If another zone of this import is above it, it will be inside a zone of the same account.
    const isInside = enclosing(name)
      .slice(1)
      .some((above) => names.has(above));
    if (obstacle === undefined || (obstacle === "inside-foreign-zone" && isInside)) continue;
    if (obstacle !== "name-taken") faults.push(notAllowed(name, obstacle));
    else if (account === undefined || (await store.zoneBy(account.id, { name })) === undefined)
      faults.push(
        taken(name, "it belongs to another account", "delete it there first, or remove it from the manifest"),
      );
    else if (!replace) faults.push(taken(name, "it already exists", "use --replace to overwrite it from the files"));
  }
  return faults;
}

/** No account has this number. */
const nobody = 0;

/** Parents first, so that a zone below them is inside a zone of the same account. */
export const inOrder = (zones: readonly ReadZone[]): readonly ReadZone[] =>
  zones.toSorted((a, b) => a.entry.name.length - b.entry.name.length);

/** The import runs on the machine of the service, so the user is the operator and can allow it. */
const notAllowed = (name: string, why: NotCreated): Fault => {
  const { code, message } = zoneNotCreated(name, why);
  return {
    code,
    where: `zone ${name}`,
    message,
    todo: "allow it with moor grant add, or remove it from the manifest",
  };
};

const taken = (zone: string, message: string, todo: string): Fault => ({
  code: "zone-taken",
  where: `zone ${zone}`,
  message,
  todo,
});

type Imported = "made" | "replaced" | "same" | Fault;

/** One write per zone. */
export async function importZone(
  store: RecordStore,
  account: Account,
  zone: ReadZone,
  now: Instant,
): Promise<Imported> {
  const there = await store.zoneBy(account.id, { name: zone.entry.name });
  if (there !== undefined) return await replaceZone(store, there, zone, now);
  const { entry } = zone;
  const reserved = await reservedName(entry.name);
  const created = { account: account.id, id: newZoneId(), reserved, ...firstContent(zone, now) };
  const made = await store.run(createdBy(importer, created), createZoneRule);
  if (typeof made !== "string") return "made";
  return made === "name-taken" ? takenMeanwhile(entry.name) : notAllowed(entry.name, made);
}

const takenMeanwhile = (name: string): Fault =>
  taken(name, "it was created or deleted by someone else during the import", "run the import again");

async function replaceZone(store: RecordStore, { account, id }: Zone, zone: ReadZone, now: Instant): Promise<Imported> {
  const { name, mode, ttl, labels, locked, primaries } = zone.entry;
  const wanted = { ...zone, entry: { name, mode, ttl, labels, locked, primaries } };
  const command = { account, zone: id, wanted, parts: zone.sets.length, now };
  const before = await store.run({ kind: "replace-zone", ...command }, replaceZoneRule);
  if (typeof before === "object") return before;
  const after = await store.zone(account, id);
  if (before === undefined || after === undefined) return takenMeanwhile(zone.entry.name);
  return after.serial === before ? "same" : "replaced";
}

/** The account to be imported. Records have no ids and no times yet. */
export type ReadAccount = {
  readonly zones: readonly ReadZone[];
  readonly tokens: readonly NamedScope[];
};

export type ReadZone = ImportedZone & { readonly entry: ZoneEntry };

/** The text of a file, undefined if it does not exist. */
export type ReadFile = (path: string) => Promise<string | undefined>;

/** Reads and checks the whole export before anything is written. Reports all faults, each with its file and line. */
export async function readAccount(
  read: ReadFile,
  { edited, allowedPrimaries = [] }: { readonly edited: boolean; readonly allowedPrimaries?: readonly Network[] },
): Promise<Result<ReadAccount>> {
  const text = await read(manifestFile);
  if (text === undefined)
    return fail(
      fileFault("no-manifest", manifestFile, "the file does not exist", "use a folder that moor export wrote"),
    );
  const manifest = readManifest(text);
  if (!manifest.ok) return manifest;
  const faults: Fault[] = [
    ...namedTwice(manifest.value.zones),
    ...faultsOfZones(manifest.value.zones, allowedPrimaries),
  ];
  const tokens = readTokens(manifest.value.tokens, faults);
  const zones: ReadZone[] = [];
  for (const entry of manifest.value.zones) {
    const zone = await readZone(entry, read, edited);
    if (zone.ok) zones.push(zone.value);
    else for (const fault of zone.faults) faults.push(fault);
  }
  if (faults.length > 0) return failAll(faults);
  return ok({ zones, tokens });
}

function namedTwice(zones: readonly ZoneEntry[]): readonly Fault[] {
  const twice = [...Map.groupBy(zones, (zone) => zone.name)].filter(([, entries]) => entries.length > 1);
  return twice.map(([name]) =>
    fileFault("named-twice", manifestFile, `the zone ${name} is listed twice`, "remove one of them"),
  );
}

async function readZone(entry: ZoneEntry, read: ReadFile, edited: boolean): Promise<Result<ReadZone>> {
  const name = parseZoneName(entry.name);
  if (!name.ok || name.value !== entry.name)
    return fail(
      fileFault(
        "bad-name",
        manifestFile,
        `${entry.name} is not a valid zone name`,
        "write it in lower case, without a trailing dot",
      ),
    );
  const faults: Fault[] = [];
  const sets: FileSet[] = [];
  for (const file of entry.files) {
    const fileResult = await readFile(file, entry, read, edited);
    if (fileResult.ok) for (const set of fileResult.value) sets.push(set);
    else for (const fault of fileResult.faults) faults.push(fault);
  }
  if (faults.length > 0) return failAll(faults);
  const whole = withBeyond(sets, entry.sets, entry.name, faults);
  const first = entry.files[0]?.path ?? "";
  for (const fault of placeInFile(checkZone(whole), sets)) faults.push({ ...fault, where: `${first}: ${fault.where}` });
  if (faults.length > 0) return failAll(faults);
  const soa = whole.find((set) => set.owner === apex && set.type === "SOA")?.records[0]?.rdata ?? "";
  return ok({ entry, serial: serialOf(soa), sets: whole });
}

async function readFile(
  { path, sha256 }: ZoneEntry["files"][number],
  { name, mode }: ZoneEntry,
  read: ReadFile,
  edited: boolean,
): Promise<Result<readonly FileSet[]>> {
  const text = await read(path);
  if (text === undefined)
    return fail(
      fileFault("no-file", path, "the manifest lists this file, but it does not exist", "export the account again"),
    );
  const isChanged = hash("sha256", text, "hex") !== sha256;
  if (isChanged && !edited)
    return fail(
      fileFault(
        "file-changed",
        path,
        "it has changed since it was exported",
        "if you edited it on purpose, import with --edited",
      ),
    );
  const file = parseZoneFile(text, name);
  // Unchanged files are imported as they were exported, and the records of a secondary zone are its primary's
  // responsibility.
  const refused = file.ok && isChanged && mode === "primary" ? checkNewSets([], file.value.sets) : [];
  const faults = file.ok ? placeInFile(refused, file.value.sets) : file.faults;
  if (!file.ok || faults.length > 0)
    return failAll(faults.map((fault) => ({ ...fault, where: `${path}: ${fault.where}` })));
  return ok(file.value.sets);
}

const removeEntry = "remove that entry from the manifest";

/** The sets of the files, completed from the manifest. */
function withBeyond(
  files: readonly FileSet[],
  beyond: readonly SetBeyond[],
  zone: string,
  faults: Fault[],
): readonly RRset[] {
  const presentByKey = new Map(beyond.map((each) => [`${each.owner} ${each.type}`, each]));
  const sets = files.map((file): RRset => {
    const key = setKey(file.owner, file.type);
    const more = presentByKey.get(key);
    presentByKey.delete(key);
    return setFrom(file, more, zone, faults);
  });
  for (const key of presentByKey.keys())
    faults.push(
      fileFault(
        "set-missing",
        manifestFile,
        `it has an entry for ${key} in ${zone}, but the zone file has no such set`,
        removeEntry,
      ),
    );
  return sets;
}

function setFrom(
  { owner, type, ttl, records }: FileSet,
  beyond: SetBeyond | undefined,
  zone: string,
  faults: Fault[],
): RRset {
  const presentByKey = new Map(beyond?.records?.map((each) => [each.rdata, each]));
  const all = records.map(({ value, rdata, comment }) => {
    const more = presentByKey.get(rdata);
    presentByKey.delete(rdata);
    const text = { value: more?.value ?? value, comment: more?.comment ?? comment, name: more?.name ?? owner };
    return { id: "", rdata, ...text, created: 0, modified: 0 };
  });
  for (const rdata of presentByKey.keys())
    faults.push(
      fileFault(
        "record-missing",
        manifestFile,
        `it has an entry for ${owner} ${type} ${rdata} in ${zone}, but the zone file has no such record`,
        removeEntry,
      ),
    );
  const { labels, locked } = beyond ?? {};
  return { owner, type, ttl, records: all, ...(labels && { labels }), ...(locked && { locked }) };
}
