import { checkStore } from "../../records/tools/check/check.ts";
import { readTables } from "../../records/tools/tables/open.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { dataFlag } from "../io/try-lines.ts";
import { showProgress } from "./progress.ts";
import { readPlace, readStorePlace } from "./read-store-place.ts";
import { countsInWords, faultsInWords } from "./words.ts";

/** Checks the store, or the given file. */
export async function storeCheck(file: string | undefined, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const progress = showProgress(io);
  const place = file === undefined ? await readStorePlace(options, io) : await readPlace(file, options, io);
  const tables = await readTables(place, "look", io.signal);
  const whereTo = place.kind === "sqlite" ? `${dataFlag(options)} --move-aside` : "--database NEW-DATABASE";
  let faults = 0;
  try {
    const counts = await checkStore(tables, {
      fault: (fault) => {
        faults += 1;
        progress.end();
        printFaults([fault], io);
      },
      progress: progress.tell,
      signal: io.signal,
    });
    progress.end();
    if (faults === 0) {
      io.out(`${tables.name} has no faults: ${countsInWords(counts)}.\n`);
      return 0;
    }
    io.err(`${tables.name} has ${faultsInWords(faults)}.\n`);
    if (file === undefined) io.err(`To restore a backup: ${io.program} store restore ${whereTo} FILE\n`);
    return 1;
  } finally {
    progress.end();
    await tables.close();
  }
}
