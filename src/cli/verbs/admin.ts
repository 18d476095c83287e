import { type Command, Option } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { storeVerb } from "../io/database-options.ts";
import { asJson, readAccountName, readPath, readTokenName, repeated } from "../io/options.ts";
import { addStoreVerbs } from "./store.ts";
import { addAccessVerbs } from "./user.ts";

/** Administration without a browser. */
export function addAdminVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addTokenVerbs(verb("token", "Tokens of the record service: who may read and write records."), io, run);
  addTransferKeyVerbs(
    verb(
      "transfer-key",
      "Keys for other nameservers (TSIG): who may have zones by transfer, and change them by UPDATE.",
    ),
    io,
    run,
  );
  addGrantVerbs(
    verb(
      "grant",
      "Grants of the record service: who may create zones inside or above zones of other accounts, or at reserved names.",
    ),
    io,
    run,
  );
  addAccessVerbs(program, io, run);
  addStoreVerbs(program, io, run);
  const signIn = "Prints a link that signs in to the pages: for the first time, or when the password is lost.";
  storeVerb(program, "sign-in", signIn)
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
  const load = () => import("../records/token.ts");
  const add = storeVerb(token, "add", "Makes a token and shows it, once.")
    .option("--name <text>", "what it is for", readTokenName, "unnamed")
    .option("--account <name>", "whose zones it opens; a new name makes a new account", readAccountName, "main")
    .option("--read-only", "may not write")
    .option(...onlyZones);
  scopeOptions(add, "opens")
    .option("--long", "64 characters instead of 32, as some clients of the rrsets API want")
    .option(...toFile)
    .action((options) => run(async () => (await load()).tokenAdd(options, io)));
  storeVerb(token, "list", "Lists the tokens, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).tokenList(options, io)));
  storeVerb(token, "revoke", "Ends a token, at once.")
    .argument("<id>", "its number in the list")
    .action((id, options) => run(async () => (await load()).tokenRevoke(id, options, io)));
}

/** Keys that moor and other nameservers share. */
function addTransferKeyVerbs(key: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/transfer-key.ts");
  const add = storeVerb(key, "add", "Makes a key and shows it, once, as the other side's config wants it.")
    .argument("<name>", "what both sides call it, such as ns2.example.org")
    .addOption(
      new Option("--algorithm <name>", "how it signs").choices(["hmac-sha256", "hmac-sha512"]).default("hmac-sha256"),
    )
    .option(...onlyZones)
    .option("--account <name>", "opens only the zones of this account", readAccountName)
    .option("--update", "may also change records, by DNS UPDATE");
  scopeOptions(add, "updates")
    .option(
      "--secret-file <file>",
      "take the secret of the other side (base64) from this file instead of making one",
      readPath,
    )
    .addOption(
      new Option("--format <server>", "how it is written").choices(["bind", "knot", "nsd", "powerdns"]).default("bind"),
    )
    .option(...toFile)
    .action((name, options) => run(async () => (await load()).transferKeyAdd(name, options, io)));
  storeVerb(key, "list", "Lists the keys, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).transferKeyList(options, io)));
  storeVerb(key, "revoke", "Ends a key, at once.")
    .argument("<name>", "its name")
    .action((name, options) => run(async () => (await load()).transferKeyRevoke(name, options, io)));
}

const noTexts: readonly string[] = [];
const onlyZones = ["--zone <name>", "opens only this zone (may be repeated)", repeated, noTexts] as const;
const toFile = ["--to <file>", "write it to a file that only you can read, instead of showing it", readPath] as const;

/** Which sets a token or key `opens` or `updates`, until when and from where. */
const scopeOptions = (command: Command, does: string): Command =>
  command
    .option("--set <name types>", `${does} only this name, such as "home A,AAAA" (may be repeated)`, repeated, noTexts)
    .option("--type <types>", `${does} only these types, at any name (may be repeated)`, repeated, noTexts)
    .option(
      "--expires <when>",
      "opens nothing from then on: 90d, 12h, a day such as 2027-12-31, or a time such as 2027-12-31T18:00, in UTC",
    )
    .option(
      "--from <network>",
      "may be used only from there: 192.0.2.0/24 or an address (may be repeated)",
      repeated,
      noTexts,
    );

/** Consent to zones inside or above those of other accounts, and to names that no account should hold alone. */
function addGrantVerbs(grant: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/grant.ts");
  const add =
    "Lets an account create a zone of this very name, whoever owns zones around it, also at a public suffix and at the name of " +
    "the service's name servers. With --zone it is the consent of that zone's owner instead.";
  storeVerb(grant, "add", add)
    .argument("<name>", "the name of the zone to be created, such as dev.example.org")
    .option("--account <name>", "who may create it; a new name makes a new account", readAccountName, "main")
    .option(
      "--zone <name>",
      "as the owner of this zone: covers names from <name> down, or <name> alone if it is above the zone; ends with the zone",
    )
    .action((name, options) => run(async () => (await load()).grantAdd(name, options, io)));
  storeVerb(grant, "list", "Lists all grants, those that owners made through the API too.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).grantList(options, io)));
  storeVerb(grant, "revoke", "Revokes a grant immediately. Zones that were created with it stay.")
    .argument("<id>", "its number in the list")
    .action((id, options) => run(async () => (await load()).grantRevoke(id, options, io)));
}
