import { type Command, Option } from "commander";
import type { CommandIo, Run } from "./command-io.ts";
import { repeated } from "./options.ts";

const dataFolder = ["--data <folder>", "the data folder of the service", "./moor-data"] as const;
const asJson = ["--json", "for programs"] as const;

/** Administration without a browser. */
export function addAdminVerbs(program: Command, io: CommandIo, run: Run): void {
  addTokenVerbs(
    program.command("token").description("Tokens of the record service: who may read and write records."),
    io,
    run,
  );
  addKeyVerbs(
    program.command("key").description("Keys of the firewall service: who may read the interfaces."),
    io,
    run,
  );
}

function addTokenVerbs(token: Command, io: CommandIo, run: Run): void {
  token
    .command("add")
    .description("Makes a token and shows it, once.")
    .option(...dataFolder)
    .option("--name <text>", "what it is for", "unnamed")
    .option("--account <name>", "whose zones it opens; a new name makes a new account", "main")
    .option("--read-only", "may not write")
    .option("--zone <name>", "opens only this zone (may be repeated)", repeated, [])
    .option("--to <file>", "write it to a file that only you can read, instead of showing it")
    .action((options) => run(async () => (await import("./token.ts")).tokenAdd(options, io)));
  token
    .command("list")
    .description("Lists the tokens, never their secrets.")
    .option(...dataFolder)
    .option(...asJson)
    .action((options) => run(async () => (await import("./token.ts")).tokenList(options, io)));
  token
    .command("revoke")
    .description("Ends a token, at once.")
    .argument("<id>", "its number in the list")
    .option(...dataFolder)
    .action((id, options) => run(async () => (await import("./token.ts")).tokenRevoke(id, options, io)));
}

function addKeyVerbs(key: Command, io: CommandIo, run: Run): void {
  key
    .command("add")
    .description("Makes a key and its secret and shows them, once.")
    .option(...dataFolder)
    .option("--name <text>", "what it is for", "unnamed")
    .addOption(
      new Option("--privilege <what>", "what it opens")
        .choices(["interface-status", "all"])
        .default("interface-status"),
    )
    .option("--to <file>", "write both to a file that only you can read, instead of showing them")
    .action((options) => run(async () => (await import("./key.ts")).keyAdd(options, io)));
  key
    .command("list")
    .description("Lists the keys, never their secrets.")
    .option(...dataFolder)
    .option(...asJson)
    .action((options) => run(async () => (await import("./key.ts")).keyList(options, io)));
  key
    .command("revoke")
    .description("Ends a key, at once.")
    .argument("<key>", "the key, or the beginning of it")
    .option(...dataFolder)
    .action((key, options) => run(async () => (await import("./key.ts")).keyRevoke(key, options, io)));
}
