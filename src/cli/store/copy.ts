import { dirname } from "node:path";
import { giveToOwnerOf } from "../../process/data-folder.ts";
import type { StorePlace } from "../../records/open-store.ts";
import { expectFree, placeNew, syncFile, withDraft } from "../../records/tools/backup.ts";
import { type CopyOutcome, copyTables, type TableSum } from "../../records/tools/copy.ts";
import { openCopyTarget, readTables } from "../../records/tools/tables/open.ts";
import type { Tables } from "../../records/tools/tables/table.ts";
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
  return await copyStore(await readPlace(fromText, options, io), await readPlace(toText, options, io), io);
}

export async function copyStore(from: StorePlace, to: StorePlace, io: CommandIo): Promise<number> {
  if (to.kind === "sqlite") expectFree(to.path);
  const tables = await readTables(from, "copy", io.signal);
  try {
    return await orStopped("Nothing was copied.", io, async () =>
      printCopied(await (to.kind === "sqlite" ? intoFile(tables, to.path, io) : copyInto(tables, to, io)), io),
    );
  } finally {
    await tables.close();
  }
}

function printCopied(outcome: CopyOutcome, io: CommandIo): number {
  if (outcome.kind === "differs") {
    printFaults(outcome.faults, io);
    return 1;
  }
  io.out(printTable(["table", "rows", "sha256"], outcome.tables.map(row)));
  io.out("The copy is identical: the row count and checksum of every table match.\n");
  return 0;
}

const row = ({ table, rows, checksum }: TableSum): readonly string[] => [table, String(rows), checksum.slice(0, 16)];

const intoFile = (from: Tables, path: string, io: CommandIo): Promise<CopyOutcome> =>
  withDraft(path, async (draft) => {
    const outcome = await copyInto(from, { kind: "sqlite", path: draft }, io);
    if (outcome.kind === "differs") return outcome;
    await giveToOwnerOf(dirname(path), draft);
    await syncFile(draft);
    const log = await placeNew(draft, path, new Date());
    if (log !== undefined) io.err(`${path}-wal existed without its database; it was renamed to ${log}\n`);
    return outcome;
  });

async function copyInto(from: Tables, place: StorePlace, io: CommandIo): Promise<CopyOutcome> {
  const { tables, finish } = await openCopyTarget(place, io.signal);
  const progress = showProgress(io);
  try {
    const outcome = await copyTables(from, tables, { tell: progress.tell, signal: io.signal });
    if (outcome.kind === "done") await finish();
    return outcome;
  } finally {
    progress.end();
    await tables.close();
  }
}
