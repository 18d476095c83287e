import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { asJson, logOptions, readCount, readPath, whichTarget } from "../io/options.ts";

/** `zone list`, `record list` and `record show` under the names that they once had: scripts use them. */
function addEarlierNames(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string) =>
    program
      .command(name, { hidden: true })
      .option("--config <file>", "the updater's config file", readPath, "moor.yaml")
      .option(...whichTarget)
      .option(...asJson);
  const load = () => import("../update/ask-target.ts");
  verb("zones")
    .description("The same as `zone list`.")
    .action((options) => run(async () => (await load()).zones(options, io)));
  verb("list")
    .description("The same as `record list`.")
    .argument("<zone>", "its name")
    .action((zone, options) => run(async () => (await load()).list({ ...options, zone }, io)));
  verb("show")
    .description("The same as `record show`.")
    .argument("<record>", "its id")
    .action((record, options) => run(async () => (await load()).show({ ...options, record }, io)));
}

export function addClientVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, summary: string) =>
    program
      .command(name)
      .summary(summary)
      .option("--config <file>", "the updater's config file", readPath, "moor.yaml");
  const update = verb("update", "Runs the updater, which keeps names pointing at their addresses.")
    .description(
      "Keeps the names in the config pointing at their addresses until it is stopped. If the source pushes its changes, " +
        "a change is in the record within a fraction of a second; otherwise the source is read at the interval in the config.",
    )
    .option("--once", "run one round, then exit: with 1 if a name could not be updated")
    .option("--dry-run", "show what would be done and why; write and store nothing")
    .option("--check", "only check the config; list every mistake with its line");
  logOptions(update).action((options) => run(async () => (await import("../update/update.ts")).update(options, io)));

  verb(
    "interfaces",
    "Shows every address that a source reports, the one that would be used, and why the others would not.",
  )
    .option("--source <name>", "which source in the config, if there are several")
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/interfaces.ts")).interfaces(options, io)));

  addEarlierNames(program, io, run);

  verb("status", "Shows the wanted, stored and published address of each name, and explains them.")
    .description(
      "Shows for each name: the wanted address, the stored address (the one that moor wrote last) and when it was written, " +
        "the address in the record service, when the name is checked next, and an explanation. Nothing is written.",
    )
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/status.ts")).status(options, io)));

  verb("history", "Shows the last thousand updates and failures.")
    .option("--last <count>", "only the newest <count>", readCount)
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/history.ts")).history(options, io)));
}
