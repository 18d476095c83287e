import { type Command, Option } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { asJson, dataVerb, readCount, readKeyName, readPath, repeated } from "../io/options.ts";

const privilege = ["--privilege <what>", "what it opens (may be repeated)", repeated, [] as readonly string[]] as const;

/** Users, groups and keys of the firewall service, and the certificate that clients import. */
export function addAccessVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, text: string) => program.command(name).description(text);
  addKeyVerbs(verb("key", "Keys of the firewall service: who may read the interfaces."), io, run);
  addUserVerbs(verb("user", "Users of the firewall service: whose keys there are, and what they may."), io, run);
  addGroupVerbs(verb("group", "Groups of users of the firewall service, and from where they may what."), io, run);
  dataVerb(program, "ca", "Shows the certificate that clients must trust, and its fingerprint.")
    .option("--pem", "the certificate alone")
    .action((options) => run(async () => (await import("./ca.ts")).ca(options, io)));
}

function addKeyVerbs(key: Command, io: CommandIo, run: Run): void {
  const load = () => import("../firewall/key.ts");
  dataVerb(key, "add", "Makes a key and its secret and shows them, once.")
    .option("--user <name>", "a user that there is; the key opens what he may")
    .option("--name <text>", "otherwise a user of this name, made when missing", readKeyName, "unnamed")
    .option("--privilege <what>", "opens only this (may be repeated; default: interface-status)", repeated, [])
    .option("--to <file>", "write both to a file that only you can read, instead of showing them", readPath)
    .action((options) => run(async () => (await load()).keyAdd(options, io)));
  dataVerb(key, "list", "Lists the keys, never their secrets.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).keyList(options, io)));
  dataVerb(key, "revoke", "Ends a key, at once.")
    .argument("<key>", "the key, or its first eight characters or more if no other begins so")
    .action((name, options) => run(async () => (await load()).keyRevoke(name, options, io)));
}

function addUserVerbs(user: Command, io: CommandIo, run: Run): void {
  const load = () => import("../firewall/user.ts");
  const settings = (name: string, text: string) =>
    dataVerb(user, name, text)
      .argument("<name>", "the user")
      .option(...privilege)
      .option("--full-name <text>", "what people call him")
      .option("--expires <day>", "the last day on which he and his keys are good, or never");
  settings("add", "Makes a user.").action((name, options) =>
    run(async () => (await load()).userAdd(name, options, io)),
  );
  settings("change", "Changes a user; privileges named take the place of those before.")
    .option("--disable", "his keys are void until he is enabled again")
    .addOption(new Option("--enable", "the opposite").conflicts("disable"))
    .action((name, options) => run(async () => (await load()).userChange(name, options, io)));
  dataVerb(user, "password", "Sets a user's password; without a file one is made and shown, once.")
    .argument("<name>", "the user")
    .option("--from <file>", "a file whose first line is the password", readPath)
    .action((name, options) => run(async () => (await load()).userPassword(name, options, io)));
  dataVerb(user, "remove", "Removes a user and his keys.")
    .argument("<name>", "the user")
    .action((name, options) => run(async () => (await load()).userRemove(name, options, io)));
  dataVerb(user, "list", "Lists the users.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).userList(options, io)));
  dataVerb(user, "log", "Shows who changed what, the latest first.")
    .option("--most <count>", "how many", readCount, 50)
    .action((options) => run(async () => (await load()).userLog(options, io)));
}

function addGroupVerbs(group: Command, io: CommandIo, run: Run): void {
  const load = () => import("../firewall/group.ts");
  dataVerb(group, "set", "Makes or changes a group; privileges and networks named take the place of those before.")
    .argument("<name>", "the group")
    .option(...privilege)
    .option("--network <range>", "its privileges count only for calls from there (may be repeated)", repeated, [])
    .option("--any-network", "they count from everywhere again")
    .option("--join <user>", "a new member (may be repeated)", repeated, [])
    .option("--leave <user>", "a member no longer (may be repeated)", repeated, [])
    .action((name, options) => run(async () => (await load()).groupSet(name, options, io)));
  dataVerb(group, "list", "Lists the groups.")
    .option(...asJson)
    .action((options) => run(async () => (await load()).groupList(options, io)));
  dataVerb(group, "remove", "Removes a group; its members stay.")
    .argument("<name>", "the group")
    .action((name, options) => run(async () => (await load()).groupRemove(name, options, io)));
}
