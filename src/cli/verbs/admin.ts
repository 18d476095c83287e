import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { asJson, dataFolder, readAccountName, readPath, readTokenName, repeated } from "../io/options.ts";
import { addGrantVerbs } from "./grant.ts";
import { addStoreVerbs } from "./store.ts";
import { addTransferKeyVerbs } from "./transfer.ts";
import { addAccessVerbs } from "./user.ts";

/** Administration without a browser. */
export function addAdminVerbs(program: Command, io: CommandIo, run: Run): void {
  addTokenVerbs(
    program.command("token").description("Tokens of the record service: who may read and write records."),
    io,
    run,
  );
  addTransferKeyVerbs(program, io, run);
  addGrantVerbs(program, io, run);
  addAccessVerbs(program, io, run);
  addStoreVerbs(program, io, run);
  databaseOptions(program.command("sign-in"))
    .description("Prints a link that signs in to the pages: for the first time, or when the password is lost.")
    .option(...dataFolder)
    .option("--firewall", "to the firewall's pages instead of the DNS console")
    .option(
      "--account <name>",
      "as whom (default: main, or the firewall's root); a new name makes a new one",
      readAccountName,
    )
    .option("--url <url>", "where the pages are, when not on this machine's usual port")
    .action((options) => run(async () => (await import("../records/sign-in.ts")).signIn(options, io)));
}

function addTokenVerbs(token: Command, io: CommandIo, run: Run): void {
  databaseOptions(token.command("add"))
    .description("Makes a token and shows it, once.")
    .option(...dataFolder)
    .option("--name <text>", "what it is for", readTokenName, "unnamed")
    .option("--account <name>", "whose zones it opens; a new name makes a new account", readAccountName, "main")
    .option("--read-only", "may not write")
    .option("--zone <name>", "opens only this zone (may be repeated)", repeated, [])
    .option("--set <name types>", 'opens only this name, such as "home A,AAAA" (may be repeated)', repeated, [])
    .option("--type <types>", "opens only these types, at any name (may be repeated)", repeated, [])
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
    .option("--long", "64 characters instead of 32, as some clients of the rrsets API want")
    .option("--to <file>", "write it to a file that only you can read, instead of showing it", readPath)
    .action((options) => run(async () => (await import("../records/token.ts")).tokenAdd(options, io)));
  databaseOptions(token.command("list"))
    .description("Lists the tokens, never their secrets.")
    .option(...dataFolder)
    .option(...asJson)
    .action((options) => run(async () => (await import("../records/token.ts")).tokenList(options, io)));
  databaseOptions(token.command("revoke"))
    .description("Ends a token, at once.")
    .argument("<id>", "its number in the list")
    .option(...dataFolder)
    .action((id, options) => run(async () => (await import("../records/token.ts")).tokenRevoke(id, options, io)));
}
