import { type Command, Option } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { allowPrimary, asJson, dataFolder, readAccountName, readPath, repeated } from "../io/options.ts";

/** Keys that moor and other nameservers share. */
export function addTransferKeyVerbs(program: Command, io: CommandIo, run: Run): void {
  const key = program
    .command("transfer-key")
    .description("Keys for other nameservers (TSIG): who may have zones by transfer, and change them by UPDATE.");
  databaseOptions(key.command("add"))
    .description("Makes a key and shows it, once, as the other side's config wants it.")
    .argument("<name>", "what both sides call it, such as ns2.example.org")
    .option(...dataFolder)
    .addOption(
      new Option("--algorithm <name>", "how it signs").choices(["hmac-sha256", "hmac-sha512"]).default("hmac-sha256"),
    )
    .option("--zone <name>", "opens only this zone (may be repeated)", repeated, [])
    .option("--account <name>", "opens only the zones of this account", readAccountName)
    .option("--update", "may also change records, by DNS UPDATE")
    .option("--set <name types>", 'updates only this name, such as "home A,AAAA" (may be repeated)', repeated, [])
    .option("--type <types>", "updates only these types, at any name (may be repeated)", repeated, [])
    .option(
      "--expires <when>",
      "opens nothing from then on: 90d, 12h, a day such as 2027-12-31, or a time such as 2027-12-31T18:00, in UTC",
    )
    .option(
      "--from <network>",
      "may be used only from there: 192.0.2.0/24 or an address (may be repeated)",
      repeated,
      [],
    )
    .option(
      "--secret-file <file>",
      "take the secret of the other side (base64) from this file instead of making one",
      readPath,
    )
    .addOption(
      new Option("--format <server>", "how it is written").choices(["bind", "knot", "nsd", "powerdns"]).default("bind"),
    )
    .option("--to <file>", "write it to a file that only you can read, instead of showing it", readPath)
    .action((name, options) =>
      run(async () => (await import("../records/transfer-key.ts")).transferKeyAdd(name, options, io)),
    );
  databaseOptions(key.command("list"))
    .description("Lists the keys, never their secrets.")
    .option(...dataFolder)
    .option(...asJson)
    .action((options) => run(async () => (await import("../records/transfer-key.ts")).transferKeyList(options, io)));
  databaseOptions(key.command("revoke"))
    .description("Ends a key, at once.")
    .argument("<name>", "its name")
    .option(...dataFolder)
    .action((name, options) =>
      run(async () => (await import("../records/transfer-key.ts")).transferKeyRevoke(name, options, io)),
    );
}

/** How `moor records` feeds other nameservers, and which may feed it. What is wrong with them is said when they are read. */
export function transferOptions(command: Command): Command {
  return command
    .option("--transfer-to <network>", "who may have every zone without a key (may be repeated)", repeated, [])
    .option("--notify <host:port[,key]>", "a nameserver to tell of changes, at once (may be repeated)", repeated, [])
    .option("--catalog [name]", "also serve a zone that lists all zones, for nameservers that can follow it")
    .option(...allowPrimary);
}
