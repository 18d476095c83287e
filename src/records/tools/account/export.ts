import { hash } from "node:crypto";
import type { Scope } from "../../../core/may.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { parseZoneFile } from "../../../core/zone-file/parse.ts";
import { printingZoneFile } from "../../../core/zone-file/print.ts";
import type { FileRecord } from "../../../core/zone-file/sets.ts";
import type { Account, PrimaryServer } from "../../model.ts";
import { allZones } from "../../queries/all-zones.ts";
import type { RecordStore } from "../../store/port.ts";
import {
  type Manifest,
  manifestFile,
  printManifest,
  type RecordBeyond,
  type SetBeyond,
  type ZoneEntry,
} from "./manifest.ts";
import { readWholeRule, type WholeZone } from "./read-whole.ts";

export type Exported = { readonly zones: number; readonly records: number; readonly tokens: number };

/** Writes a file; paths are relative, with slashes. */
export type WriteFile = (path: string, text: string) => Promise<void>;

/**
 * An account as zone files and a manifest. The same account gives the same bytes: the files contain no times and no
 * ids. Each zone is a consistent state; the manifest is written last, so that an interrupted export has none.
 */
export async function exportAccount(
  store: RecordStore,
  account: Account,
  { write, now, signal }: { readonly write: WriteFile; readonly now: number; readonly signal: AbortSignal },
): Promise<Exported> {
  const zones: ZoneEntry[] = [];
  let records = 0;
  for await (const zone of allZones(store, account.id)) {
    signal.throwIfAborted();
    const view = await store.run({ kind: "read-whole", account: account.id, zone: zone.id, now }, readWholeRule);
    // Deleted since it was listed.
    if (view === undefined) continue;
    const files = filesOf(view);
    for (const { path, text } of files) await write(path, text);
    zones.push(entryOf(view, files));
    records += view.zone.recordCount;
  }
  const tokens = (await store.tokens({ account: account.id }))
    .filter((token) => token.revoked === undefined)
    .map(({ name, scope }) => ({ name, scope: plain(scope) }));
  await write(manifestFile, printManifest({ format: "moor account", version: 1, zones, tokens }));
  return { zones: zones.length, records, tokens: tokens.length };
}

const plain = (scope: Scope): Manifest["tokens"][number]["scope"] =>
  structuredClone(scope) as Manifest["tokens"][number]["scope"];

type File = { readonly path: string; readonly text: string; readonly sets: readonly RRset[] };

/** Well below the size limit of the zone-file parser. */
const longestFile = 4 * 1024 * 1024;

function filesOf({ zone, sets }: WholeZone): readonly File[] {
  return partsOf(sets.toSorted(bySet)).map((part, i) => ({
    path: `zones/${fileName(zone.name)}${i === 0 ? "" : `.${i + 1}`}.zone`,
    text: finish(printingZoneFile({ name: zone.name, ttl: zone.settings.ttl, sets: part }, "rrsets")),
    sets: part,
  }));
}

function partsOf(sets: readonly RRset[]): readonly (readonly RRset[])[] {
  const parts: RRset[][] = [[]];
  let length = 0;
  for (const set of sets) {
    const size = set.records.reduce((sum, { rdata, comment }) => sum + rdata.length + comment.length, 0);
    length += size + set.records.length * (set.owner.length + 30);
    if (length > longestFile && parts.at(-1)?.length !== 0) {
      parts.push([]);
      length = size;
    }
    parts.at(-1)?.push(set);
  }
  return parts;
}

/** Names of classless reverse zones contain a slash, and a very long name would exceed the limit for file names. */
function fileName(zone: string): string {
  const name = zone.replaceAll(/[^a-z0-9._-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return name.length <= 200 ? name : `${name.slice(0, 150)}-${hash("sha256", zone, "hex").slice(0, 16)}`;
}

function entryOf({ zone, sets }: WholeZone, files: readonly File[]): ZoneEntry {
  const { mode, ttl, labels, locked, primaries, dnssec } = zone.settings;
  const beyond = new Map(files.flatMap((file) => beyondFile(file, zone.name)));
  return {
    name: zone.name,
    files: files.map(({ path, text }) => ({ path, sha256: hash("sha256", text, "hex") })),
    mode,
    ttl,
    labels,
    locked,
    primaries: primaries.map(withoutKey),
    ...(dnssec && { signed: true as const }),
    sets: sets.toSorted(bySet).flatMap((set) => beyond.get(setKey(set.owner, set.type)) ?? []),
  };
}

const withoutKey = ({ address, port, tsig }: PrimaryServer): ZoneEntry["primaries"][number] => ({
  address,
  port,
  ...(tsig && { tsig: { algorithm: tsig.algorithm } }),
});

/** Reads the file as an import will, and returns what is lost on the way, for the manifest. */
function beyondFile({ text, sets, path }: File, zone: string): readonly (readonly [string, SetBeyond])[] {
  const read = parseZoneFile(Buffer.from(text).toString(), zone);
  if (!read.ok) throw new Error(`${path} cannot be read back: ${read.faults[0]?.message}`);
  const setByKey = new Map(read.value.sets.map((set) => [setKey(set.owner, set.type), set]));
  return sets.flatMap((set) => {
    const key = setKey(set.owner, set.type);
    const file = setByKey.get(key);
    if (file?.ttl !== set.ttl || file.records.length !== set.records.length)
      throw new Error(`${key} differs when ${path} is read back`);
    const records = set.records.flatMap((record, i) => beyondRecord(set, record, file.records[i]));
    const { owner, type, labels, locked } = set;
    const marks = { ...(labels && Object.keys(labels).length > 0 && { labels }), ...(locked && { locked }) };
    if (records.length === 0 && Object.keys(marks).length === 0) return [];
    return [[key, { owner, type, ...marks, ...(records.length > 0 && { records }) }] as const];
  });
}

function beyondRecord(
  { owner, type }: RRset,
  record: ZoneRecord,
  file: FileRecord | undefined,
): readonly RecordBeyond[] {
  if (file?.rdata !== record.rdata) throw new Error(`a value of ${owner} ${type} differs when it is read back`);
  const beyond = {
    ...(record.name !== owner && { name: record.name }),
    // The value of an SOA is written again with each new serial.
    ...(record.value !== file.value && type !== "SOA" && { value: record.value }),
    ...(record.comment !== file.comment && { comment: record.comment }),
  };
  return Object.keys(beyond).length === 0 ? [] : [{ rdata: record.rdata, ...beyond }];
}

const bySet = (a: RRset, b: RRset): number => compare(a.owner, b.owner) || compare(a.type, b.type);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
