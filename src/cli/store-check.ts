import { checkStore } from "../records/store-check.ts";
import { readTables } from "../records/store-table-open.ts";
import type { CommandIo } from "./command-io.ts";
import type { DatabaseOptions } from "./database-options.ts";
import { readStorePlace } from "./read-store-place.ts";
import { countsInWords, faultsInWords } from "./store-faults.ts";
import { showProgress } from "./store-progress.ts";
import { tellFaults } from "./tell-faults.ts";

export async function storeCheck(options: DatabaseOptions, io: CommandIo): Promise<number> {
  const progress = showProgress(io);
  const tables = await readTables(readStorePlace(options, io), "look");
  let faults = 0;
  try {
    const counts = await checkStore(tables, {
      fault: (fault) => {
        faults += 1;
        progress.end();
        tellFaults([fault], io);
      },
      progress: ({ done, total }) => progress.tell("check", done, total),
      signal: io.signal,
    });
    progress.end();
    if (faults > 0) io.err(`${tables.name} has ${faultsInWords(faults)}.\n`);
    else io.out(`${tables.name} is as it shall be: ${countsInWords(counts)}.\n`);
    return faults > 0 ? 1 : 0;
  } finally {
    progress.end();
    await tables.close();
  }
}
