import { dirname, resolve } from "node:path";
import { asDiskTrouble } from "../../lib/sqlite/faults.ts";
import { giveToOwnerOf } from "../../process/data-folder.ts";
import type { StorePlace } from "../../records/open-store.ts";
import { partOf } from "../../records/store/unfinished-copy.ts";
import { expectFree, placeNew, syncFile } from "../../records/tools/backup.ts";
import { type CopyOutcome, copyTables, type TableSum } from "../../records/tools/copy.ts";
import { openCopyTarget, readTables } from "../../records/tools/tables/open.ts";
import type { CopyTarget, Tables } from "../../records/tools/tables/table.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import { showProgress } from "./progress.ts";
import { readPlace } from "./read-store-place.ts";
import { orStopped } from "./stopped.ts";

export async function storeCopy(
  fromText: string,
  toText: string,
  options: Omit<DatabaseOptions, "data">,
  io: CommandIo,
): Promise<number> {
  const [from, to] = [readPlace(fromText, options, io), readPlace(toText, options, io)];
  return await copyPlaces(from, to, io);
}

/** Restores a backup into a database. `file` is its name in messages, `path` the checked copy of it to read. */
export const copyStore = (file: string, path: string, to: StorePlace, io: CommandIo): Promise<number> =>
  copyPlaces({ kind: "sqlite", path }, to, io, resolve(io.cwd, file));

async function copyPlaces(from: StorePlace, to: StorePlace, io: CommandIo, source = sourceOf(from)): Promise<number> {
  if (to.kind === "sqlite") expectFree(to.path);
  const tables = await readTables(from, "copy", io.signal);
  try {
    return await orStopped(notFinished, io, async () => {
      const origin = { tables, source };
      const outcome = to.kind === "sqlite" ? await intoFile(origin, to.path, io) : await intoServer(origin, to, io);
      return printCopied(outcome, io);
    });
  } finally {
    await tables.close();
  }
}

const notFinished = "The copy is not finished; to continue it, run the same command again.";

function printCopied(outcome: CopyOutcome, io: CommandIo): number {
  if (outcome.kind === "differs") {
    printFaults(outcome.faults, io);
    return 1;
  }
  io.out(printTable(["table", "rows", "sha256"], outcome.tables.map(row)));
  io.out("The copy is identical: the row count and checksum of every table match.\n");
  return 0;
}

/** The source that an interrupted copy remembers: without the user. */
function sourceOf(place: StorePlace): string {
  if (place.kind === "sqlite") return place.path;
  const { host, port, database } = place.address.config;
  return `postgres://${host}:${port}/${database}`;
}

type Origin = { readonly tables: Tables; readonly source: string };

const row = ({ table, rows, checksum }: TableSum): readonly string[] => [table, String(rows), checksum.slice(0, 16)];

/** An incomplete copy has another name; an interrupted copy continues with it. */
async function intoFile({ tables, source }: Origin, path: string, io: CommandIo): Promise<CopyOutcome> {
  const part = partOf(path);
  const target = await openCopyTarget({ kind: "sqlite", path: part }, source, io.signal);
  if (target.goesOn) io.err(`${part} is an interrupted copy; continuing it.\n`);
  const outcome = await copyInto(tables, target, io, (error) => asDiskTrouble(error, dirname(path)));
  if (outcome.kind === "differs") return outcome;
  await giveToOwnerOf(dirname(path), part);
  await syncFile(part);
  const log = await placeNew(part, path, new Date());
  if (log !== undefined) io.err(`${path}-wal existed without its database; it was renamed to ${log}\n`);
  return outcome;
}

async function intoServer(
  { tables, source }: Origin,
  place: Extract<StorePlace, { kind: "postgres" }>,
  io: CommandIo,
): Promise<CopyOutcome> {
  const target = await openCopyTarget(place, source, io.signal);
  if (target.goesOn) io.err(`${place.address.shown} has an interrupted copy; continuing it.\n`);
  return await copyInto(tables, target, io);
}

async function copyInto(
  from: Tables,
  { tables, finish }: CopyTarget,
  io: CommandIo,
  explain = (error: unknown) => error,
): Promise<CopyOutcome> {
  const progress = showProgress(io);
  try {
    const outcome = await copyTables(from, tables, { tell: progress.tell, signal: io.signal });
    if (outcome.kind === "done") await finish();
    return outcome;
  } catch (error) {
    if (error === io.signal.reason) throw error;
    throw new Error(`${(explain(error) as Error).message}\n${notFinished}`, { cause: error });
  } finally {
    progress.end();
    await tables.close();
  }
}
