import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { type DatabaseOptions, storeVerb } from "../io/database-options.ts";
import { readPath } from "../io/options.ts";
import { dropHistoryOption } from "../records/keep-history-option.ts";
import { orStopped } from "../store/stopped.ts";

/** Works on a store as a whole: back it up, check it, move it. */
export function addStoreVerbs(program: Command, io: CommandIo, run: Run): void {
  const store = program
    .command("store")
    .description(
      "Backs up, restores, checks, copies and compacts the database of the record service. Restore needs the service stopped, and " +
        "compact returns space to the disk only then; everything else works while it runs.",
    );
  addBackupVerbs(store, io, run);
  addUpkeepVerbs(store, io, run);
}

function addBackupVerbs(store: Command, io: CommandIo, run: Run): void {
  storeVerb(
    store,
    "backup",
    "Writes a checked backup of one consistent state to a new file, even while the service writes.",
  )
    .argument("<file>", "the file to create; it must not exist yet", readPath)
    .action((file, options) =>
      run(async () => {
        const { storeBackup } = await import("../store/backup.ts");
        return await orStopped("No backup was written.", io, () => storeBackup(file, options, io));
      }),
    );
  storeVerb(
    store,
    "restore",
    "Replaces the store with a backup. The backup is checked first; the service must not run.",
  )
    .argument("<file>", "a backup; it is not changed", readPath)
    .option("--move-aside", "rename an existing store that has data, instead of refusing")
    .action((file, options) =>
      run(async () => {
        const { storeRestore } = await import("../store/backup.ts");
        return await orStopped("Nothing was changed.", io, () => storeRestore(file, options, io));
      }),
    );
}

/** Check, copy and compact. */
function addUpkeepVerbs(store: Command, io: CommandIo, run: Run): void {
  storeVerb(store, "check", "Checks the whole store and lists every fault, with what to do. Changes nothing.")
    .argument("[file]", "a backup, or another database file, instead of the store", readPath)
    .action((file: string | undefined, options: DatabaseOptions, command: Command) =>
      run(async () => {
        const namesStore = options.database !== undefined || command.getOptionValueSource("data") !== "default";
        if (file !== undefined && namesStore)
          command.error("error: give either a file, or the store with --data or --database");
        const { storeCheck } = await import("../store/check.ts");
        return await orStopped("The store was checked only in part.", io, () => storeCheck(file, options, io));
      }),
    );
  store
    .command("copy")
    .option(
      "--database-password-file <file>",
      "a file with the password of PostgreSQL (default: PGPASSWORD, or its passfile)",
      readPath,
    )
    .description(
      "Copies a store to a new place, and verifies every table. An interrupted copy leaves nothing behind. " +
        "Writes during the copy are not included: to move for good, stop the service first.",
    )
    .argument("<from>", "a database file, a data folder, or postgres://user@host/database", readPath)
    .argument("<to>", "a file that does not exist yet, or an empty PostgreSQL database", readPath)
    .action((from, to, options) =>
      run(async () => (await import("../store/copy.ts")).storeCopy(from, to, options, io)),
    );
  dropHistoryOption(
    storeVerb(
      store,
      "compact",
      "Returns unused space to the disk, unless the service is running; with --keep-history it drops older changes first.",
    ),
  ).action((options) => run(async () => (await import("../store/compact.ts")).storeCompact(options, io)));
}
