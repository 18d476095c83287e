import { largestZoneFile, lowestTtl } from "../../contract/rrsets-limits.ts";
import { apex } from "../../core/names/name.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import { typeName } from "../../core/rdata/table.ts";
import { checkNewSets } from "../../core/records/check-new-sets.ts";
import { faultInWords } from "../../core/result.ts";
import { finish } from "../../core/steps.ts";
import { findingClashes } from "../../core/zone-file/clashes.ts";
import type { ZoneMarks } from "../../core/zone-file/marks.ts";
import { parseZoneFile } from "../../core/zone-file/parse.ts";
import { type PrintableSet, printingZoneFile } from "../../core/zone-file/print.ts";
import type { CommandIo } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { call, type ManageOptions, type RecordsApi, Refused, write, zonePath } from "./records-api.ts";
import { createZone } from "./zone.ts";

export type ImportOptions = ManageOptions & {
  readonly fileNameservers?: boolean;
  /** Sets that are not in the file stay. */
  readonly merge?: boolean;
  readonly yes?: boolean;
};

/** What a zone has in a file, or elsewhere. */
export type ZoneToImport = Content & {
  readonly name: string;
  /** What was read differently than written. */
  readonly notes: readonly string[];
  /** What cannot come, each with the reason. */
  readonly left: readonly string[];
};

/** What happened, or would happen, to one zone. */
export type ZoneImport = Pick<ZoneToImport, "notes" | "left"> & {
  readonly zone: string;
  readonly state: "new" | "different" | "equal" | "failed";
  readonly sets: number;
  readonly difference: Difference | undefined;
  readonly because: string | undefined;
};

type Difference = { readonly create: number; readonly replace: number; readonly remove: number };

type Content = {
  /** The default of the zone, if there is one. */
  readonly ttl: number | undefined;
  /** Labels and protection of the zone, if that is known. */
  readonly marks?: ZoneMarks;
  readonly sets: readonly PrintableSet[];
};

/** Makes a zone equal to what is elsewhere, or adds that to it. Without `yes` it only looks at what would change. */
export async function importZone(
  api: RecordsApi,
  there: ZoneToImport,
  options: ImportOptions,
  io: CommandIo,
): Promise<ZoneImport> {
  const { name: zone, left } = there;
  try {
    const before = await call(api, "GET", `${zonePath(zone)}/zonefile?labels=true`, { expected: [404] });
    const isNew = before.status === 404;
    const here = isNew ? undefined : readExport(String(before.body.zonefile), zone);
    const { content: fitting, raised } = withHigherTtls(there, lowestTtl);
    const brought = options.fileNameservers ? fitting : { ...fitting, sets: fitting.sets.filter(isNotOwn) };
    const wanted = here === undefined ? brought : combined(here, brought, options.merge === true);
    const because = faultsIn(here, wanted);
    const marks = marksNote(here, wanted);
    const notes = [...there.notes, ...raised, ...defaultNote(here, wanted), ...marks, ...unsignedNote(here, there)];
    const common = { zone, notes, left, sets: brought.sets.length };
    if (because !== undefined) return { ...common, state: "failed", difference: undefined, because };
    const difference = differenceOf(here ?? { ttl: undefined, sets: [] }, wanted);
    const isEqual = !isNew && marks.length === 0 && Object.values(difference).every((count) => count === 0);
    if (options.yes === true && !isEqual) await writeZone(api, zone, wanted, { isNew, options, io });
    return { ...common, state: isNew ? "new" : isEqual ? "equal" : "different", difference, because };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...failedImport(zone, error.message), sets: there.sets.length, left };
  }
}

export const failedImport = (zone: string, because: string): ZoneImport => ({
  zone,
  state: "failed",
  sets: 0,
  difference: undefined,
  notes: [],
  left: [],
  because,
});

function readExport(text: string, zone: string): Content {
  const read = parseZoneFile(text, zone);
  if (!read.ok) throw new Error("the service sent a zone file that cannot be read");
  return read.value;
}

const keyOf = ({ owner, type }: PrintableSet): string => `${owner} ${type}`;

const isNotOwn = ({ owner, type }: PrintableSet): boolean => owner !== apex || (type !== "SOA" && type !== "NS");

/**
 * What the zone has afterwards: in a merge, everything that is not brought stays; otherwise only its SOA and NS sets do
 * if none are brought. What stays keeps its TTL, although the default may change. Labels and protection stay, except
 * those that are brought.
 */
function combined(here: Content, brought: Content, merge: boolean): Content {
  const before = new Map(here.sets.map((set) => [keyOf(set), set]));
  const sets = brought.sets.map((set) => {
    const { labels, locked } = before.get(keyOf(set)) ?? {};
    return { ...(labels && { labels }), ...(locked && { locked }), ...set };
  });
  const keys = new Set(sets.map(keyOf));
  const kept = here.sets.filter((set) => !keys.has(keyOf(set)) && (merge || !isNotOwn(set)));
  const marks = { ...here.marks, ...brought.marks };
  return merge
    ? { ttl: here.ttl, marks, sets: [...kept, ...withOwnTtls({ ...brought, sets }, here.ttl)] }
    : { ttl: brought.ttl ?? here.ttl, marks, sets: [...withOwnTtls({ ...here, sets: kept }, brought.ttl), ...sets] };
}

/** The sets with their TTLs under another default. */
const withOwnTtls = ({ ttl: before, sets }: Content, ttl: number | undefined): readonly PrintableSet[] =>
  before === undefined || ttl === undefined || before === ttl
    ? sets
    : sets.map((set) => ({ ...set, ttl: set.ttl ?? before }));

/** The record-set API has no shorter ones. */
function withHigherTtls(
  { marks = {}, ttl, sets }: Content,
  lowest: number,
): { readonly content: Content; readonly raised: readonly string[] } {
  const low = sets.filter((set) => set.ttl !== null && set.ttl < lowest);
  const isDefaultLow = ttl !== undefined && ttl < lowest;
  if (low.length === 0 && !isDefaultLow) return { content: { ttl, marks, sets }, raised: [] };
  const names = [
    ...(isDefaultLow ? ["the default"] : []),
    ...low.map(({ owner, type }) => `${owner} ${typeName(type)}`),
  ];
  const shown = names.length > mostNamed ? [...names.slice(0, mostNamed), `${names.length - mostNamed} more`] : names;
  const content = {
    ttl: ttl && Math.max(ttl, lowest),
    marks,
    sets: sets.map((set) => (set.ttl === null ? set : { ...set, ttl: Math.max(set.ttl, lowest) })),
  };
  return { content, raised: [`TTLs below ${lowest} seconds are raised to ${lowest}: ${shown.join(", ")}`] };
}

const mostNamed = 5;

const defaultNote = (here: Content | undefined, { ttl }: Content): readonly string[] =>
  here === undefined || here.ttl === ttl ? [] : [`its default TTL changes from ${here.ttl} to ${ttl} seconds`];

const marksNote = (here: Content | undefined, { marks }: Content): readonly string[] =>
  here === undefined || textOf(here.marks) === textOf(marks) ? [] : ["the labels or the protection of the zone change"];

const textOf = ({ labels = {}, locked = false }: ZoneMarks = {}): string =>
  JSON.stringify([Object.entries(labels).map(String).toSorted(), locked]);

const unsignedNote = (here: Content | undefined, { marks }: Content): readonly string[] =>
  marks?.signed && here?.marks?.signed !== true
    ? [
        "it was signed where it was exported, and is not signed here. If its parent has a DS record, resolvers reject " +
          "it until it has its key: run moor dnssec export there, then moor dnssec on --key here",
      ]
    : [];

/** What the service would refuse, so that a preview promises nothing else. */
function faultsIn(here: Content | undefined, { sets }: Content): string | undefined {
  const fileSets = sets.map((set) => ({
    ...set,
    records: set.records.map((record) => ({ value: record.rdata, ...record, line: 0 })),
  }));
  const clashes = finish(findingClashes(fileSets)).map((fault) => faultInWords(fault));
  const refused = checkNewSets(here?.sets ?? [], sets).map((fault) => `${fault.where}: ${faultInWords(fault)}`);
  const faults = [...clashes, ...refused];
  return faults.length === 0 ? undefined : faults.slice(0, mostNamed).join("; ");
}

async function writeZone(
  api: RecordsApi,
  zone: string,
  content: Content,
  { isNew, options, io }: { readonly isNew: boolean; readonly options: ImportOptions; readonly io: CommandIo },
): Promise<void> {
  const zonefile = printed(content, zone);
  if (zonefile.length > largestZoneFile && !api.isLocal) throw new Refused(413, { error: { message: tooLarge } });
  if (isNew) {
    const isOurs = await createZone(api, { name: zone, mode: "primary", zonefile }, io);
    if (!isOurs) throw new Refused(409, { error: { message: "it was created meanwhile; repeat the command" } });
    return;
  }
  const own = { ...(options.fileNameservers && { other_nameservers: true }), ...(options.merge && { merge: true }) };
  await write(api, "POST", `${zonePath(zone)}/actions/import_zonefile`, {
    body: { zonefile, ...own },
    signal: io.signal,
  });
}

const tooLarge = `as a zone file it has more than ${largestZoneFile / 1024 / 1024} MiB; import it on the machine of the service, with --data`;

/** A file without `$TTL` must not get one: it would become the zone's default. */
function printed({ ttl, marks, sets }: Content, name: string): string {
  const text = finish(printingZoneFile({ name, ttl: ttl ?? 0, ...marks, sets }, "marked"));
  return ttl === undefined ? text.replace(/^\$TTL.*\n/m, "") : text;
}

/** Compares what zones say, not how: the order of values and the way a default TTL is written do not matter. */
function differenceOf(here: Content, there: Content): Difference {
  const usual = there.ttl ?? here.ttl;
  const [before, after] = [bySet(here, here.ttl), bySet(there, usual)];
  const count = (keys: Iterable<string>, test: (key: string) => boolean) => [...keys].filter(test).length;
  return {
    create: count(after.keys(), (key) => !before.has(key)),
    replace: count(after.keys(), (key) => before.has(key) && before.get(key) !== after.get(key)),
    remove: count(before.keys(), (key) => !after.has(key)),
  };
}

/** The service sets the serial. */
const bySet = ({ sets }: Content, usual: number | undefined): ReadonlyMap<string, string> =>
  new Map(
    sets.map((set) => {
      const texts = set.records.map(({ rdata }) => (set.type === "SOA" ? rdata.replace(serial, "$1") : rdata));
      return [keyOf(set), JSON.stringify([set.ttl ?? usual ?? null, texts.toSorted(), textOf(set)])];
    }),
  );

const serial = /^(\S+ \S+) \d+/;

/** Prints what happened, or would happen; returns the exit code. */
export function reportImports(imported: readonly ZoneImport[], { json, yes }: ImportOptions, io: CommandIo): number {
  const isWritten = yes === true;
  const code = imported.some(({ state }) => state === "failed") ? 1 : 0;
  if (json) {
    io.out(`${JSON.stringify({ written: isWritten, zones: imported }, undefined, 2)}\n`);
    return code;
  }
  const rows = imported.map(({ zone, state, sets, difference, because }) => [
    nameToUnicode(zone),
    state === "failed" ? `not done: ${because}` : state === "equal" ? "is equal" : isWritten ? "imported" : state,
    `${sets}`,
    difference === undefined ? "" : inWords(difference),
  ]);
  io.out(imported.length === 0 ? "There are no zones.\n" : printTable(["ZONE", "STATE", "SETS", "CHANGES"], rows));
  const lines = (of: "notes" | "left") =>
    imported.flatMap((each) => each[of].map((text) => `  ${nameToUnicode(each.zone)}: ${text}\n`)).join("");
  if (lines("notes") !== "") io.out(`Note:\n${lines("notes")}`);
  if (lines("left") !== "") io.out(`Cannot come:\n${lines("left")}`);
  if (!isWritten && imported.some(({ state }) => state === "new" || state === "different"))
    io.out("Nothing was written. To import, repeat the command with --yes.\n");
  return code;
}

const inWords = ({ create, replace, remove }: Difference): string =>
  [
    [create, "to create"],
    [replace, "to replace"],
    [remove, "to remove"],
  ]
    .filter(([count]) => count !== 0)
    .map((part) => part.join(" "))
    .join(", ");
