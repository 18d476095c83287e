import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { databaseOptions } from "../io/database-options.ts";
import { asJson, dataFolder, readAccountName } from "../io/options.ts";

/** Consent to zones inside or above those of other accounts, and to names that no account should hold alone. */
export function addGrantVerbs(program: Command, io: CommandIo, run: Run): void {
  const load = () => import("../records/grant.ts");
  const grant = program
    .command("grant")
    .description(
      "Grants of the record service: who may create zones inside or above zones of other accounts, or at reserved names.",
    );
  databaseOptions(grant.command("add"))
    .description(
      "Lets an account create a zone of this very name, whoever owns zones around it, also at a public suffix and at the name of " +
        "the service's name servers. With --zone it is the consent of that zone's owner instead.",
    )
    .argument("<name>", "the name of the zone to be created, such as dev.example.org")
    .option(...dataFolder)
    .option("--account <name>", "who may create it; a new name makes a new account", readAccountName, "main")
    .option(
      "--zone <name>",
      "as the owner of this zone: covers names from <name> down, or <name> alone if it is above the zone; ends with the zone",
    )
    .action((name, options) => run(async () => (await load()).grantAdd(name, options, io)));
  databaseOptions(grant.command("list"))
    .description("Lists all grants, those that owners made through the API too.")
    .option(...dataFolder)
    .option(...asJson)
    .action((options) => run(async () => (await load()).grantList(options, io)));
  databaseOptions(grant.command("revoke"))
    .description("Revokes a grant immediately. Zones that were created with it stay.")
    .argument("<id>", "its number in the list")
    .option(...dataFolder)
    .action((id, options) => run(async () => (await load()).grantRevoke(id, options, io)));
}
