import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { importKinds, providerKinds } from "../../contract/provider-kinds.ts";
import { type CommandIo, type Run, refuse } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { asJson, readAccountName, readFolder, readPath, whichTarget } from "../io/options.ts";

const ttl = ["--ttl <seconds>", "the TTL (default: that of the zone, or what the set has)", readTtl] as const;
const zone = ["<zone>", "the zone, such as example.org"] as const;

/** Zones and records, at a service or in the store of this machine. */
export function addManageVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addZoneVerbs(
    verb(
      "zone",
      "Lists and manages zones. What is in a config is listed at every service, and changed at Hetzner and at moor records.",
    ),
    io,
    run,
  );
  addProviderVerbs(verb("provider", "Manages the tokens with which zones are published at providers."), io, run);
  addRecordVerbs(
    verb(
      "record",
      "Lists and changes records. What is in a config is listed at every service, and changed at Hetzner and at moor records.",
    ),
    io,
    run,
  );
}

/** Over the API with the token of the config; with `--data` or `--database`, in the store. */
const manageVerb = (parent: Command, name: string, text: string): Command =>
  databaseOptions(
    parent
      .command(name)
      .description(text)
      .option("--config <file>", "the updater's config file, which has the URL and the token", readPath, "moor.yaml")
      .option(...whichTarget)
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
  addPublishVerbs(parent, io, run);
  addImportVerb(parent, io, run);
  manageVerb(
    parent,
    "export",
    "Prints a zone as a zone file, or writes all zones to a folder. Labels and protection are comments in it, which zone import reads.",
  )
    .argument("[zone]", "the zone, such as example.org")
    .option("--all", "all zones, each as a file in the folder of --to; the same zones give the same files")
    .option("--to <file>", "write it to this file; with --all: the folder to create", readPath)
    .action((name, { all, ...options }) =>
      run(async () => {
        if (all === true && name === undefined && options.to !== undefined)
          return await (await import("../manage/zone-files.ts")).exportAll(options.to, options, io);
        if (all === true || name === undefined)
          return refuse(2, "Name a zone, as in: zone export example.org; or all: zone export --all --to FOLDER", io);
        return await (await load()).zoneExport(name, options, io);
      }),
    );
  manageVerb(parent, "delete", "Deletes a zone; if there is none, nothing happens.")
    .argument(...zone)
    .option("--yes", "confirm that the zone and all its records are deleted")
    .action((name, options) => run(async () => (await load()).zoneDelete(name, options, io)));
}

/** Zones that are published at a provider. */
function addPublishVerbs(parent: Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/publish.ts");
  const drift = (text: string) => new Option("--drift <rule>", text).choices(["ask", "ours"]);
  manageVerb(
    parent,
    "publish",
    "Publishes a zone at the provider that serves it. Without --yes it only shows what would change: nothing is stored, here or there.",
  )
    .argument(...zone)
    .addArgument(new Argument("<service>", "what kind of service the provider is").choices(providerKinds))
    .option("--token <file>", "the file with the token of the account there; not needed if it is stored", readPath)
    .option("--url <url>", "the URL of the service (powerdns, moor and dns-update need it)")
    .option("--ca <file>", "trust only the certificates in this file", readPath)
    .option("--name <name>", "the name of the token here (default: that of the service)")
    .addOption(
      new Option("--fill <whose>", "whose records the zone has at first").choices(["theirs", "ours"]).default("theirs"),
    )
    .addOption(drift("what happens to a set that somebody changes there").default("ask"))
    .option("--yes", "publish, instead of showing what would change")
    .addHelpText("after", publishExamples)
    .action((name, kind, options) => run(async () => (await load()).zonePublish(name, kind, options, io)));
  manageVerb(parent, "unpublish", "Stops publishing a zone; the provider keeps its records.")
    .argument(...zone)
    .option("--yes", "confirm that changes no longer reach the provider")
    .action((name, options) => run(async () => (await load()).zoneUnpublish(name, options, io)));
  manageVerb(parent, "set", "Changes how a zone is published.")
    .argument(...zone)
    .addOption(drift("what happens to a set that somebody changes at the provider: it is shown, or ours is put back"))
    .option("--read-every <seconds>", "how often the zone is read there, from 60; 0 for never", readTtl)
    .action((name, options) => run(async () => (await load()).zoneSet(name, options, io)));
  manageVerb(parent, "state", "Shows how far a zone is published at its provider.")
    .argument(...zone)
    .action((name, options) => run(async () => (await load()).zoneState(name, options, io)));
}

const publishExamples = `
Examples:
  $ moor zone publish example.org hetzner --token hetzner-token --data /var/lib/moor-records
        shows what would change
  $ moor zone publish example.org hetzner --token hetzner-token --data /var/lib/moor-records --yes
        publishes it, and stores the token, encrypted
  $ moor zone publish example.org powerdns --url https://dns.example.net:8081 --token key --yes
  $ moor zone set example.org --drift ours
  $ moor zone unpublish example.org --yes`;

/** The tokens with which zones are published. */
function addProviderVerbs(parent: Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/publish.ts");
  const name = ["<name>", "its name in the list"] as const;
  manageVerb(parent, "list", "Lists the providers, never their tokens.").action((options) =>
    run(async () => (await load()).providerList(options, io)),
  );
  manageVerb(parent, "replace-token", "Replaces the token of a provider; the service need not be restarted.")
    .argument(...name)
    .argument("<file>", "the file with the new token")
    .action((which, file, options) => run(async () => (await load()).providerReplaceToken(which, file, options, io)));
  manageVerb(parent, "remove", "Removes a provider that no zone is published with.")
    .argument(...name)
    .action((which, options) => run(async () => (await load()).providerRemove(which, options, io)));
}

function addImportVerb(parent: Command, io: CommandIo, run: Run): void {
  manageVerb(
    parent,
    "import",
    "Makes zones equal to zone files, or to what they have elsewhere. Their nameservers stay. Without --yes it only shows what would change.",
  )
    .argument(
      "[zone...]",
      "the zone and its file; or only a folder of files that zone export --all wrote; with --from: the zones (default: all)",
    )
    .option("--file-nameservers", "take the NS and SOA records from there instead of keeping the zone's")
    .addOption(new Option("--from <service>", "bring zones from a service").choices([...importKinds.keys()]))
    .option("--from-token <file>", "with --from: the file with the token of the account there", readPath)
    .option("--from-url <url>", "with --from: the URL of the service (powerdns and moor need it)")
    .option("--from-ca <file>", "with --from: trust only the certificates in this file", readPath)
    .option("--from-server <host>", "with --from axfr: the nameserver, with a port if it is not 53")
    .option("--from-key <file>", "with --from axfr: the file with the TSIG key, if it needs one", readPath)
    .option(
      "--merge",
      "keep the record sets that are not in the file; those in it replace sets of the same name and type",
    )
    .option("--yes", "import, instead of showing what would change")
    .action((words: readonly string[], options) =>
      run(async () => {
        if (options.from !== undefined)
          return await (await import("../manage/zones-from.ts")).zonesFrom(words, options, io);
        return await (await import("../manage/zone-files.ts")).importFiles(words, options, io);
      }),
    );
}

function addRecordVerbs(parent: Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/record.ts");
  const recordVerb = (name: string, text: string) =>
    manageVerb(parent, name, text)
      .argument("<name>", "the whole name, such as home.example.org")
      .argument("<type>", "the type, such as A or TXT");
  manageVerb(parent, "list", "Lists the records of a zone, with their ids.")
    .argument(...zone)
    .action((name, options) => run(async () => (await load()).recordList(name, options, io)));
  parent
    .command("show")
    .description("Shows one record, at the service of the config.")
    .argument("<record>", "its id, as record list shows it")
    .option("--config <file>", "the updater's config file", readPath, "moor.yaml")
    .option(...whichTarget)
    .option(...asJson)
    .action((record, options) =>
      run(async () => (await import("../update/ask-target.ts")).show({ ...options, record }, io)),
    );
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
  addDecisionVerbs(recordVerb, io, run);
}

function addDecisionVerbs(recordVerb: (name: string, text: string) => Command, io: CommandIo, run: Run): void {
  const load = () => import("../manage/record.ts");
  for (const [verb, text] of [
    ["take-theirs", "Takes what somebody wrote at the provider of a published zone."],
    ["put-ours-back", "Replaces what somebody wrote at the provider of a published zone."],
    ["publish-again", "Sends a set again that the provider of a published zone refused."],
  ] as const)
    recordVerb(verb, text).action((name, type, options) =>
      run(async () => (await load()).recordDecide(name, type, verb, options, io)),
    );
}

function readTtl(text: string): number {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= 2_147_483_647)) throw new InvalidArgumentError("It must be a number of seconds.");
  return seconds;
}
