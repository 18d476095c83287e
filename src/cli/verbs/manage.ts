import { type Command, InvalidArgumentError, Option } from "commander";
import { type CommandIo, type Run, refuse } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { asJson, readAccountName, readFolder, readPath } from "../io/options.ts";

const ttl = ["--ttl <seconds>", "the TTL (default: that of the zone, or what the set has)", readTtl] as const;
const zone = ["<zone>", "the zone, such as example.org"] as const;

/** Zones and records, at a service or in the store of this machine. */
export function addManageVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addZoneVerbs(verb("zone", "Manages zones, at Hetzner or at moor records."), io, run);
  addProviderVerbs(verb("provider", "Manages the tokens with which zones are published at providers."), io, run);
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
    .addOption(new Option("--publish <service>", "publish the zone at a provider, where it exists").choices(publishers))
    .option("--publish-token <file>", "with --publish: the file with the token of the account there", readPath)
    .option("--publish-url <url>", "with --publish: the URL of the service (powerdns, moor and dns-update need it)")
    .option("--publish-ca <file>", "with --publish: trust only the certificates in this file", readPath)
    .option("--publish-name <name>", "with --publish: the name of the token here (default: that of the service)")
    .addOption(
      new Option("--fill <whose>", "with --publish: whose records the zone has at first")
        .choices(["theirs", "ours"])
        .default("theirs"),
    )
    .addOption(
      new Option("--drift <rule>", "with --publish: what happens to a set that somebody changes there")
        .choices(["ask", "ours", "theirs"])
        .default("ask"),
    )
    .option("--yes", "with --publish: publish, instead of showing what would change")
    .action((name, options) => run(async () => (await load()).zoneAdd(name, options, io)));
  manageVerb(parent, "state", "Shows how far a zone is published at its provider.")
    .argument(...zone)
    .action((name, options) => run(async () => (await import("../manage/publish.ts")).zoneState(name, options, io)));
  manageVerb(parent, "list", "Lists the zones.").action((options) =>
    run(async () => (await load()).zoneList(options, io)),
  );
  addImportVerb(parent, io, run);
  manageVerb(parent, "export", "Prints a zone as a zone file.")
    .argument(...zone)
    .option("--to <file>", "write it to this file", readPath)
    .action((name, options) => run(async () => (await load()).zoneExport(name, options, io)));
  manageVerb(parent, "delete", "Deletes a zone; if there is none, nothing happens.")
    .argument(...zone)
    .option("--yes", "confirm that the zone and all its records are deleted")
    .action((name, options) => run(async () => (await load()).zoneDelete(name, options, io)));
}

const publishers = ["cloudflare", "desec", "dns-update", "hetzner", "hetzner-v1", "moor", "powerdns"] as const;

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

const froms = ["axfr", "cloudflare", "desec", "hetzner", "moor", "powerdns"] as const;

function addImportVerb(parent: Command, io: CommandIo, run: Run): void {
  manageVerb(parent, "import", "Makes a zone equal to a zone file, or to what it has elsewhere. Its nameservers stay.")
    .argument("[zone...]", "the zone and its file; with --from: the zones (default: all)")
    .option("--file-nameservers", "take the NS and SOA records from there instead of keeping the zone's")
    .addOption(new Option("--from <service>", "bring zones from a service").choices(froms))
    .option("--from-token <file>", "with --from: the file with the token of the account there", readPath)
    .option("--from-url <url>", "with --from: the URL of the service (powerdns and moor need it)")
    .option("--from-ca <file>", "with --from: trust only the certificates in this file", readPath)
    .option("--from-server <host>", "with --from axfr: the nameserver, with a port if it is not 53")
    .option("--from-key <file>", "with --from axfr: the file with the TSIG key, if it needs one", readPath)
    .option("--yes", "with --from: import, instead of showing what would change")
    .action((words: readonly string[], options) =>
      run(async () => {
        if (options.from !== undefined)
          return await (await import("../manage/zones-from.ts")).zonesFrom(words, options, io);
        const [name, file, ...more] = words;
        if (name === undefined || file === undefined || more.length > 0)
          return refuse(2, "Give a zone and its file, as in: zone import example.org example.org.zone; or --from", io);
        return await (await import("../manage/zone.ts")).zoneImport(name, file, options, io);
      }),
    );
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
