import { largestZoneFile, lowestTtl } from "../../contract/rrsets-limits.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import { typeName } from "../../core/rdata/table.ts";
import { finish } from "../../core/steps.ts";
import { atLine } from "../../core/zone-file/entries.ts";
import { withHigherTtls } from "../../core/zone-file/higher-ttls.ts";
import type { ZoneMarks } from "../../core/zone-file/marks.ts";
import { parseZoneFile } from "../../core/zone-file/parse.ts";
import { type PrintableSet, printingZoneFile } from "../../core/zone-file/print.ts";
import { isOwnSet } from "../../core/zone-file/sets.ts";
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
  let sent: ImportRequest | undefined;
  try {
    const before = await call(api, "GET", `${zonePath(zone)}/zonefile?labels=true`, { expected: [404] });
    const isNew = before.status === 404;
    const here = isNew ? undefined : readExport(String(before.body.zonefile), zone);
    const { ttl, sets, raised } = withHigherTtls(there, lowestTtl, here?.sets);
    const fitting: Content = { ...(there.marks && { marks: there.marks }), ttl, sets };
    const brought = options.fileNameservers ? fitting : { ...fitting, sets: fitting.sets.filter(isNotOwn) };
    const wanted = here === undefined ? brought : combined(here, brought, options.merge === true);
    const changes = [...defaultNote(here, wanted), ...marksNote(here, wanted)];
    const notes = [...there.notes, ...raised, ...changes, ...unsignedNote(here, there)];
    const difference = differenceOf(here ?? { ttl: undefined, sets: [] }, wanted);
    const isEqual = !isNew && changes.length === 0 && Object.values(difference).every((count) => count === 0);
    sent = { zone, isNew, body: bodyOf(wanted, zone, options) };
    if (!isEqual) await (options.yes === true ? writeZone : tryWrite)(api, sent, io);
    const state = isNew ? "new" : isEqual ? "equal" : "different";
    return { zone, notes, left, sets: brought.sets.length, state, difference, because: undefined };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const because = refusalOf(error, sent);
    return { ...failedImport(zone, because), notes: there.notes, left, sets: there.sets.length };
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

const isNotOwn = (set: PrintableSet): boolean => !isOwnSet(set);

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

type ImportRequest = {
  readonly zone: string;
  readonly isNew: boolean;
  readonly body: { readonly zonefile: string };
};

function bodyOf(content: Content, zone: string, { fileNameservers, merge }: ImportOptions): ImportRequest["body"] {
  const own = { ...(fileNameservers && { other_nameservers: true }), ...(merge && { merge: true }) };
  return { zonefile: printed(content, zone), ...own };
}

function assertSendable(api: RecordsApi, { body: { zonefile } }: ImportRequest): void {
  if (zonefile.length > largestZoneFile && !api.isLocal) throw new Refused(413, { error: { message: tooLarge } });
}

/** The write as a trial. Hetzner has none. */
async function tryWrite(api: RecordsApi, request: ImportRequest): Promise<void> {
  assertSendable(api, request);
  const body = { ...request.body, ...(request.isNew && { create: true }) };
  await call(api, "POST", `${zonePath(request.zone)}/zonefile/preview`, { body, expected: [404] });
}

async function writeZone(api: RecordsApi, request: ImportRequest, io: CommandIo): Promise<void> {
  assertSendable(api, request);
  const { zone, isNew, body } = request;
  if (isNew) {
    const isOurs = await createZone(api, { name: zone, mode: "primary", zonefile: body.zonefile }, io);
    if (!isOurs) throw new Refused(409, { error: { message: "it was created meanwhile; repeat the command" } });
    return;
  }
  await write(api, "POST", `${zonePath(zone)}/actions/import_zonefile`, { body, signal: io.signal });
}

/** Nobody sees the lines of the file that was sent, so their sets are named. */
function refusalOf({ message, fields }: Refused, sent: ImportRequest | undefined): string {
  if (sent === undefined || fields.length === 0) return message;
  const read = parseZoneFile(sent.body.zonefile, sent.zone);
  const sets = read.ok ? read.value.sets : [];
  const places = new Map(sets.map((set) => [atLine(set.records[0]?.line ?? 0), `${set.owner} ${typeName(set.type)}`]));
  const texts = fields.map(({ name, messages }) => `${places.get(name) ?? name}: ${messages.join("; ")}`);
  return texts.length > mostNamed
    ? [...texts.slice(0, mostNamed), `${texts.length - mostNamed} more`].join("; ")
    : texts.join("; ");
}

const mostNamed = 5;

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
