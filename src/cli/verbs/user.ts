import { type Command, Option } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { asJson, dataVerb, newOption, readCount, readKeyName, readPath, repeated } from "../io/options.ts";

const privilege = [
  "--privilege <what>",
  "a privilege; to see them all, give any other word (may be repeated)",
  repeated,
  [] as readonly string[],
] as const;

/** Users and keys of the firewall service, and the certificate that clients import. */
export function addAccessVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addKeyVerbs(verb("key", "Manages the keys of the firewall service: who may read the interfaces."), io, run);
  addUserVerbs(verb("user", "Manages the users of the firewall service, and what they may do."), io, run);
  dataVerb(program, "ca", "Shows the certificate that clients must trust, and its fingerprint.")
    .option("--pem", "print only the certificate")
    .action((options) => run(async () => (await import("./ca.ts")).ca(options, io)));
}

function addKeyVerbs(key: Command, io: CommandIo, run: Run): void {
  const load = () => import("../firewall/key.ts");
  dataVerb(key, "add", "Creates a key and its secret and shows them once.")
    .option("--user <name>", "an existing user; the key allows what the user may do")
    .option("--name <text>", "without --user: a user of this name, created if missing", readKeyName, "unnamed")
    .option(
      "--privilege <what>",
      "allow only this (may be repeated; default without --user: interface-status)",
      repeated,
      [],
    )
    .option(...newOption)
    .option("--to <file>", "write both to a file that only you can read, instead of showing them", readPath)
    .action((options) => run(async () => (await load()).keyAdd(options, io)));
  dataVerb(key, "list", "Lists the keys, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).keyList(options, io)));
  dataVerb(key, "revoke", "Revokes a key immediately.")
    .argument("<key>", "the key, or at least its first eight characters, if no other key starts with them")
    .action((name, options) => run(async () => (await load()).keyRevoke(name, options, io)));
}

function addUserVerbs(user: Command, io: CommandIo, run: Run): void {
  const load = () => import("../firewall/user.ts");
  const settings = (name: string, text: string) =>
    dataVerb(user, name, text)
      .argument("<name>", "the user")
      .option(...privilege)
      .option(
        "--network <range>",
        "the privileges apply only to calls from this network (may be repeated)",
        repeated,
        [],
      )
      .option("--full-name <text>", "the user's full name")
      .option("--expires <day>", "the last day on which the user and their keys are valid, or never");
  settings("add", "Creates a user.")
    .option(...newOption)
    .action((name, options) => run(async () => (await load()).userAdd(name, options, io)));
  settings("change", "Changes a user; the given privileges and networks replace the old ones.")
    .addOption(new Option("--any-network", "the privileges apply to calls from anywhere again").conflicts("network"))
    .option("--disable", "disable the user; their keys do not work until the user is enabled again")
    .addOption(new Option("--enable", "enable the user again").conflicts("disable"))
    .action((name, options) => run(async () => (await load()).userChange(name, options, io)));
  dataVerb(user, "password", "Sets a user's password; without --from, creates a random password and shows it once.")
    .argument("<name>", "the user")
    .option("--from <file>", "a file whose first line is the password", readPath)
    .action((name, options) => run(async () => (await load()).userPassword(name, options, io)));
  dataVerb(user, "remove", "Removes a user and their keys.")
    .argument("<name>", "the user")
    .action((name, options) => run(async () => (await load()).userRemove(name, options, io)));
  dataVerb(user, "list", "Lists the users.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).userList(options, io)));
  dataVerb(user, "log", "Shows who changed what, the latest first.")
    .option("--most <count>", "how many entries to show", readCount, 50)
    .action((options) => run(async () => (await load()).userLog(options, io)));
}
