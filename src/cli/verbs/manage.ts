import { type Command, InvalidArgumentError } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { asJson, readAccountName, readFolder, readPath } from "../io/options.ts";

const ttl = ["--ttl <seconds>", "the TTL (default: that of the zone, or what the set has)", readTtl] as const;
const zone = ["<zone>", "the zone, such as example.org"] as const;

/** Zones and records, at a service or in the store of this machine. */
export function addManageVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addZoneVerbs(verb("zone", "Manages zones, at Hetzner or at moor records."), io, run);
  addRecordVerbs(verb("record", "Changes records, at Hetzner or at moor records."), io, run);
}

/** Over the API with the token of the config; with `--data` or `--database`, in the store. */
const manageVerb = (parent: Command, name: string, text: string): Command =>
  databaseOptions(
    parent
      .command(name)
      .description(text)
      .option("--config <file>", "the updater's config file, which has the URL and the token", readPath, "moor.yaml")
      .option("--target <name>", "which record service in the config, if there are several")
      .option(
        "--data <folder>",
        "work on the store in this data folder instead, also while its service runs",
        readFolder,
      ),
  )
    .option("--account <name>", "with --data or --database: the account", readAccountName, "main")
    .option(...asJson);

function addZoneVerbs(parent: Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/zone.ts");
  manageVerb(parent, "add", "Creates a zone; if it exists already, nothing changes.")
    .argument(...zone)
    .option("--ttl <seconds>", "the TTL of records without their own", readTtl)
    .action((name, options) => run(async () => (await load()).zoneAdd(name, options, io)));
  manageVerb(parent, "list", "Lists the zones.").action((options) =>
    run(async () => (await load()).zoneList(options, io)),
  );
  manageVerb(parent, "import", "Makes a zone equal to a zone file, and creates it if needed. Its nameservers stay.")
    .argument(...zone)
    .argument("<file>", "the zone file")
    .option("--file-nameservers", "take the NS and SOA records of the file instead of keeping the zone's")
    .action((name, file, options) => run(async () => (await load()).zoneImport(name, file, options, io)));
  manageVerb(parent, "export", "Prints a zone as a zone file.")
    .argument(...zone)
    .option("--to <file>", "write it to this file", readPath)
    .action((name, options) => run(async () => (await load()).zoneExport(name, options, io)));
  manageVerb(parent, "delete", "Deletes a zone; if there is none, nothing happens.")
    .argument(...zone)
    .option("--yes", "confirm that the zone and all its records are deleted")
    .action((name, options) => run(async () => (await load()).zoneDelete(name, options, io)));
}

function addRecordVerbs(parent: Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/record.ts");
  const recordVerb = (name: string, text: string) =>
    manageVerb(parent, name, text)
      .argument("<name>", "the whole name, such as home.example.org")
      .argument("<type>", "the type, such as A or TXT");
  recordVerb("set", "Gives a name exactly these values of a type; if it has them already, nothing changes.")
    .argument("<value...>", "the values, as in a zone file; a text needs no quotation marks")
    .option(...ttl)
    .action((name, type, values, options) =>
      run(async () => (await load()).recordSet(name, type, values, options, io)),
    );
  recordVerb("add", "Adds values to those that a name has; those that it has already are left as they are.")
    .argument("<value...>", "the values, as in a zone file; a text needs no quotation marks")
    .option(...ttl)
    .action((name, type, values, options) =>
      run(async () => (await load()).recordAdd(name, type, values, options, io)),
    );
  recordVerb("remove", "Removes values of a name; those that it does not have do not matter.")
    .argument("[value...]", "the values (default: all of that type)")
    .action((name, type, values, options) =>
      run(async () => (await load()).recordRemove(name, type, values, options, io)),
    );
}

function readTtl(text: string): number {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= 2_147_483_647)) throw new InvalidArgumentError("It must be a number of seconds.");
  return seconds;
}
