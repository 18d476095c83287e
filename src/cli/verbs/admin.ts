import { Argument, type Command, Option } from "commander";
import { algorithmChoices } from "../../core/dnssec/codes.ts";
import type { CommandIo, Run } from "../io/command-io.ts";
import { storeVerb } from "../io/database-options.ts";
import {
  asJson,
  newOption,
  quotaOption,
  readAccountName,
  readKeyTag,
  readPath,
  readTokenName,
  repeated,
} from "../io/options.ts";
import { addStoreVerbs } from "./store.ts";
import { addAccessVerbs } from "./user.ts";

/** Administration without a browser. */
export function addAdminVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addTokenVerbs(verb("token", "Manages the tokens of the record service: who may read and write records."), io, run);
  addTransferKeyVerbs(
    verb(
      "transfer-key",
      "Manages TSIG keys for other nameservers: who may transfer zones, and change them by DNS UPDATE.",
    ),
    io,
    run,
  );
  addGrantVerbs(
    verb(
      "grant",
      "Manages grants of the record service: who may create zones inside or above zones of other accounts, or at reserved names.",
    ),
    io,
    run,
  );
  addDnssecVerbs(
    verb("dnssec", "Signs zones with DNSSEC: switch it on and off, replace keys, show what the registrar needs."),
    io,
    run,
  );
  addAccessVerbs(program, io, run);
  addStoreVerbs(program, io, run);
  const signIn = "Prints a sign-in link for the pages, for the first time or if you lost the password.";
  storeVerb(program, "sign-in", signIn)
    .option("--firewall", "for the firewall's pages instead of the DNS console")
    .option(
      "--account <name>",
      "the account (default: main), or with --firewall the user (default: root); created if missing",
      readAccountName,
    )
    .option("--url <url>", "the URL of the pages (default: where the service last listened)")
    .action((options) => run(async () => (await import("../records/sign-in.ts")).signIn(options, io)));
}

function addDnssecVerbs(dnssec: Command, io: CommandIo, run: Run): void {
  addSigningVerbs(dnssec, io, run);
  addChangeVerbs(dnssec, io, run);
  addKeyVerbs(dnssec, io, run);
}

const algorithm = (text: string) => new Option("--algorithm <name>", text).choices(Object.keys(algorithmChoices));
const zone = ["<zone>", "the zone, such as example.org"] as const;

/** On, off and status. */
function addSigningVerbs(dnssec: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/dnssec.ts");
  storeVerb(dnssec, "on", "Signs a zone and shows the DS record for the registrar.")
    .argument(...zone)
    .addOption(algorithm("the algorithm of the key").default("ecdsa-p256"))
    .option("--nsec3", "use NSEC3 instead of NSEC: makes the names of the zone hard to list")
    .option(
      "--key <file>",
      "use the private key of the server that signs the zone now, instead of a new key: a .private file (BIND, PowerDNS) or PEM (Knot)",
      readPath,
    )
    .option(
      "--also-publish <keys>",
      "also publish the public keys of another server that signs the zone: a file with DNSKEY records, or one record in quotes (may be repeated)",
      repeated,
      noTexts,
    )
    .action((name, options) => run(async () => (await load()).dnssecOn(name, options, io)));
  storeVerb(
    dnssec,
    "off",
    "Asks the parent to remove the DS record, and unsigns the zone when that record has left all caches.",
  )
    .argument(...zone)
    .option("--now", "do not wait; while the parent still has a DS record, resolvers reject the zone")
    .addOption(
      new Option("--cancel", "keep the zone signed after all, while it still waits for the parent").conflicts("now"),
    )
    .action((name, options) => run(async () => (await load()).dnssecOff(name, options, io)));
  storeVerb(
    dnssec,
    "status",
    "Shows how a zone is signed and what the registrar needs; without a zone, lists the signed zones.",
  )
    .argument("[zone]", zone[1])
    .option(...asJson)
    .action((name, options) => run(async () => (await load()).dnssecStatus(name, options, io)));
}

/** What changes while a zone stays signed. */
function addChangeVerbs(dnssec: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/dnssec.ts");
  storeVerb(dnssec, "roll", "Replaces the key of a zone at the stage secure, step by step.")
    .argument(...zone)
    .addOption(algorithm("change to this algorithm (default: the same)"))
    .action((name, options) => run(async () => (await load()).dnssecRoll(name, options, io)));
  storeVerb(dnssec, "denial", "Changes between NSEC and NSEC3, while the zone stays signed.")
    .argument(...zone)
    .addArgument(
      new Argument("<kind>", "nsec, or nsec3: makes the names of the zone hard to list").choices(["nsec", "nsec3"]),
    )
    .action((name, kind, options) => run(async () => (await load()).dnssecDenial(name, kind, options, io)));
  storeVerb(
    dnssec,
    "resign",
    "Makes all signatures of a zone again, with the same keys, if `moor store check` says so.",
  )
    .argument("<zone>")
    .action((name, options) => run(async () => (await load()).dnssecResign(name, options, io)));
  storeVerb(
    dnssec,
    "ignore-silent",
    "Does not wait for servers of the parent that do not answer. If one still has the old DS record, resolvers that ask it reject the zone.",
  )
    .argument(...zone)
    .action((name, options) => run(async () => (await load()).dnssecIgnoreSilent(name, options, io)));
}

/** Keys of other servers, and keys for them. */
function addKeyVerbs(dnssec: Command, io: CommandIo, run: Run): void {
  const loadKeys = () => import("../records/dnssec-keys.ts");
  storeVerb(
    dnssec,
    "publish",
    "Publishes the public keys of another server that also signs the zone, so that resolvers can query either server.",
  )
    .argument(...zone)
    .argument("<keys>", "a file with DNSKEY records (a .key file, or the output of dig), or one record in quotes")
    .action((name, keys, options) => run(async () => (await loadKeys()).dnssecPublish(name, keys, options, io)));
  storeVerb(dnssec, "withdraw", "Stops publishing the keys of another server.")
    .argument(...zone)
    .argument("[tag]", "the key tag of the key to withdraw (default: all of them)", readKeyTag)
    .action((name, tag, options) => run(async () => (await loadKeys()).dnssecWithdraw(name, tag, options, io)));
  storeVerb(dnssec, "export", "Prints the private keys of a zone, to move it to another server.")
    .argument(...zone)
    .option(
      "--to <folder>",
      "write them to files in this folder, in a format that BIND, Knot and PowerDNS read, instead of showing them; " +
        "only you can read the private keys",
      readPath,
    )
    .action((name, options) => run(async () => (await loadKeys()).dnssecExport(name, options, io)));
}

function addTokenVerbs(token: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/token.ts");
  const add = storeVerb(token, "add", "Creates a token and shows it once.")
    .option("--name <text>", "what the token is for", readTokenName, "unnamed")
    .option(
      "--account <name>",
      "the account whose zones it may use; a new name creates a new account",
      readAccountName,
      "main",
    )
    .option("--read-only", "allow reading only")
    .option(...onlyZones);
  scopeOptions(add, "allow")
    .addOption(confirmOption())
    .option(...newOption)
    .option("--long", "64 characters instead of 32, as some clients of the rrsets API expect")
    .option(...toFile)
    .action((options) => run(async () => (await load()).tokenAdd(options, io)));
  storeVerb(token, "list", "Lists the tokens, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).tokenList(options, io)));
  storeVerb(token, "revoke", "Revokes a token immediately.")
    .argument("<id>", "its number in the list")
    .action((id, options) => run(async () => (await load()).tokenRevoke(id, options, io)));
}

/** Keys that moor and other nameservers share. */
function addTransferKeyVerbs(key: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/transfer-key.ts");
  const add = storeVerb(key, "add", "Creates a key and shows it once, in the format of the other server's config.")
    .argument("<name>", "the name of the key on both servers, such as ns2.example.org")
    .addOption(
      new Option("--algorithm <name>", "the signature algorithm")
        .choices(["hmac-sha256", "hmac-sha512"])
        .default("hmac-sha256"),
    )
    .option(...onlyZones)
    .option("--account <name>", "allow only the zones of this account", readAccountName)
    .option("--update", "also allow changes by DNS UPDATE")
    .addOption(quotaOption("another limit of transfer keys per account, such as transfer-keys=500"));
  scopeOptions(add, "allow updates of")
    .addOption(confirmOption())
    .option(...newOption)
    .option("--secret-file <file>", "use the secret (base64) in this file instead of a new one", readPath)
    .addOption(
      new Option("--format <server>", "the format of the output")
        .choices(["bind", "knot", "nsd", "powerdns"])
        .default("bind"),
    )
    .option(...toFile)
    .action((name, options) => run(async () => (await load()).transferKeyAdd(name, options, io)));
  storeVerb(key, "list", "Lists the keys, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).transferKeyList(options, io)));
  storeVerb(key, "revoke", "Revokes a key immediately.")
    .argument("<name>", "its name")
    .action((name, options) => run(async () => (await load()).transferKeyRevoke(name, options, io)));
}

const noTexts: readonly string[] = [];
const onlyZones = ["--zone <name>", "allow only this zone (may be repeated)", repeated, noTexts] as const;
const toFile = ["--to <file>", "write it to a file that only you can read, instead of showing it", readPath] as const;

const confirmOption = (): Option =>
  new Option("--confirm <by>", "answer its writes when the provider of a published zone has them").choices([
    "provider",
  ]);

/** `allow` begins the descriptions: what is limited to these sets. */
const scopeOptions = (command: Command, allow: string): Command =>
  command
    .option(
      "--set <name types>",
      `${allow} only this name, or only these types of it, such as "home" or "home A,AAAA" (may be repeated)`,
      repeated,
      noTexts,
    )
    .option("--type <types>", `${allow} only these types, at any name (may be repeated)`, repeated, noTexts)
    .option(
      "--expires <when>",
      "when it expires: after 90d or 12h, at the end of a day such as 2027-12-31, or at a time such as 2027-12-31T18:00, in UTC",
    )
    .option(
      "--from <network>",
      "allow only callers from this network or address, such as 192.0.2.0/24 (may be repeated)",
      repeated,
      noTexts,
    );

/** Consent to zones inside or above those of other accounts, and to reserved names. */
function addGrantVerbs(grant: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/grant.ts");
  const add =
    "Lets an account create a zone with exactly this name, even inside or above zones of other accounts, at a public suffix, or " +
    "at a name of the service's nameservers. With --zone, the grant comes from that zone's owner instead.";
  storeVerb(grant, "add", add)
    .argument("<name>", "the name of the zone to create, such as dev.example.org")
    .option(
      "--account <name>",
      "the account that may create it; a new name creates a new account",
      readAccountName,
      "main",
    )
    .option(
      "--zone <name>",
      "grant on behalf of this zone's owner: covers <name> and all names below it, or only <name> if it is above the zone; the grant is deleted with the zone",
    )
    .option(...newOption)
    .action((name, options) => run(async () => (await load()).grantAdd(name, options, io)));
  storeVerb(grant, "list", "Lists all grants, including those that owners created through the API.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).grantList(options, io)));
  storeVerb(grant, "revoke", "Revokes a grant immediately. Zones that were created with it stay.")
    .argument("<id>", "its number in the list")
    .action((id, options) => run(async () => (await load()).grantRevoke(id, options, io)));
}
