import { hash } from "node:crypto";
import type { Network } from "../../../core/addresses/network.ts";
import { apex, parseZoneName } from "../../../core/names/name.ts";
import { checkNewSets } from "../../../core/records/check-new-sets.ts";
import { checkZone } from "../../../core/records/check-zone.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { serialOf } from "../../../core/records/serial.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import { parseZoneFile } from "../../../core/zone-file/parse.ts";
import { type FileSet, placeInFile } from "../../../core/zone-file/sets.ts";
import { fileFault, manifestFile, readManifest, type SetBeyond, type ZoneEntry } from "./manifest.ts";
import { faultsOfZones, type NamedScope, readTokens } from "./meaning.ts";

/** The account to be imported. Records have no ids and no times yet. */
export type ReadAccount = {
  readonly zones: readonly ReadZone[];
  readonly tokens: readonly NamedScope[];
};

export type ReadZone = { readonly entry: ZoneEntry; readonly serial: number; readonly sets: readonly RRset[] };

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
    const found = await readFile(file, entry, read, edited);
    if (found.ok) for (const set of found.value) sets.push(set);
    else for (const fault of found.faults) faults.push(fault);
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
  // Unchanged files are imported as they were exported, and the records of a secondary zone are its primary's responsibility.
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
  const known = new Map(beyond.map((each) => [`${each.owner} ${each.type}`, each]));
  const sets = files.map((file): RRset => {
    const key = setKey(file.owner, file.type);
    const more = known.get(key);
    known.delete(key);
    return setFrom(file, more, zone, faults);
  });
  for (const key of known.keys())
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
  const known = new Map(beyond?.records?.map((each) => [each.rdata, each]));
  const all = records.map(({ value, rdata, comment }) => {
    const more = known.get(rdata);
    known.delete(rdata);
    const text = { value: more?.value ?? value, comment: more?.comment ?? comment, name: more?.name ?? owner };
    return { id: "", rdata, ...text, created: 0, modified: 0 };
  });
  for (const rdata of known.keys())
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
