import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { type DatabaseOptions, storeVerb } from "../io/database-options.ts";
import { allowPrimary, readAccountName, readPath } from "../io/options.ts";
import { dropHistoryOption } from "../records/keep-history-option.ts";
import { orStopped } from "../store/stopped.ts";

/** What is done with all of a store: keeping copies of it, looking after it, moving it. */
export function addStoreVerbs(program: Command, io: CommandIo, run: Run): void {
  const store = program
    .command("store")
    .description("The database of the record service: backup, check, copy. All but restore may be done while it runs.");
  storeVerb(
    store,
    "backup",
    "Writes a backup to a new file: one state of the store, checked, also while the service writes to it.",
  )
    .argument("<file>", "the file to make; it is never one that is there", readPath)
    .action((file, options) =>
      run(async () => {
        const { storeBackup } = await import("../store/backup.ts");
        return await orStopped("No backup was made.", io, () => storeBackup(file, options, io));
      }),
    );
  storeVerb(
    store,
    "restore",
    "Puts a backup in the place of the store. The backup is checked first; the service must not run.",
  )
    .argument("<file>", "a backup; it is left as it is", readPath)
    .option("--move-aside", "when there is a store with data already: keep it under another name")
    .action((file, options) =>
      run(async () => {
        const { storeRestore } = await import("../store/backup.ts");
        return await orStopped("Nothing was changed.", io, () => storeRestore(file, options, io));
      }),
    );
  storeVerb(store, "check", "Looks through all of the store and names every fault, with what to do. Changes nothing.")
    .argument("[file]", "a backup, or another database file, instead of the store", readPath)
    .action((file: string | undefined, options: DatabaseOptions, command: Command) =>
      run(async () => {
        const namesStore = options.database !== undefined || command.getOptionValueSource("data") !== "default";
        if (file !== undefined && namesStore)
          command.error("error: name a file, or the store with --data or --database, not both");
        const { storeCheck } = await import("../store/check.ts");
        return await orStopped("Not all of the store was checked.", io, () => storeCheck(file, options, io));
      }),
    );
  store
    .command("copy")
    .option(
      "--database-password-file <file>",
      "the password of PostgreSQL (default: PGPASSWORD, or its passfile)",
      readPath,
    )
    .description(
      "Copies a store to a new place, and verifies every table. Broken off, it goes on when it is run again. " +
        "What is written while it copies is not in the copy: to move for good, stop the service first.",
    )
    .argument("<from>", "a database file, a data folder, or postgres://user@host/database", readPath)
    .argument("<to>", "a file that is not there yet, or an empty PostgreSQL database", readPath)
    .action((from, to, options) =>
      run(async () => (await import("../store/copy.ts")).storeCopy(from, to, options, io)),
    );
  dropHistoryOption(
    storeVerb(
      store,
      "compact",
      "Gives unused space back to the disk, unless the service runs; with --keep-history it drops older changes first.",
    ),
  ).action((options) => run(async () => (await import("../store/compact.ts")).storeCompact(options, io)));
  addAccountVerbs(program, io, run);
}

/** An account as files that people and other programs can read. */
function addAccountVerbs(program: Command, io: CommandIo, run: Run): void {
  storeVerb(
    program,
    "export",
    "Writes an account to a new folder: a zone file a zone, and a manifest with what zone files cannot hold. The same " +
      "account gives the same bytes. Ids, times and secrets are not in it; to keep those, take a backup.",
  )
    .summary("an account as zone files and a manifest")
    .argument("<folder>", "the folder to make", readPath)
    .option("--account <name>", "whose zones", "main")
    .action((folder, options) => run(async () => (await import("../records/export.ts")).exportTo(folder, options, io)));
  storeVerb(program, "import", "Reads and checks a whole folder of moor export, and then makes its zones.")
    .summary("zones of a folder that moor export has made")
    .argument("<folder>", "the folder", readPath)
    .option("--account <name>", "into which account; a new name makes a new one", readAccountName, "main")
    .option("--replace", "zones that are there already become as they are in the files, protected sets too")
    .option("--edited", "take zone files that were changed since the export")
    .option(...allowPrimary)
    .option("--tokens <file>", "also make its tokens, anew, and write their secrets to this file", readPath)
    .action((folder, options) =>
      run(async () => (await import("../records/import.ts")).importFrom(folder, options, io)),
    );
}
