import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { asJson, logOptions, readCount, readPath } from "../io/options.ts";

const whichTarget = ["--target <name>", "which record service of the config, when there are several"] as const;

/** The updating client, and what prepares its config. */
export function addClientVerbs(program: Command, io: CommandIo, run: Run): void {
  const verb = (name: string, summary: string) =>
    program
      .command(name)
      .summary(summary)
      .option("--config <file>", "the updater's config file", readPath, "moor.yaml");
  const update = verb("update", "the updating client: keeps names at their addresses")
    .description("Reads addresses from firewalls and writes those that changed into DNS records, until stopped.")
    .option("--once", "one round, then end: with 1 if a name could not be given its address")
    .option("--dry-run", "say what would be done and why; write and store nothing")
    .option("--check", "only check the config; every fault with its line");
  logOptions(update).action((options) => run(async () => (await import("../update/update.ts")).update(options, io)));

  verb("interfaces", "what the firewall reports, which address would be taken, and why not the others")
    .option("--source <name>", "which firewall of the config, when there are several")
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/interfaces.ts")).interfaces(options, io)));

  verb("zones", "the zones that the record service shows to the config's token")
    .option(...whichTarget)
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/ask-target.ts")).zones(options, io)));

  verb("list", "the records of a zone, with their ids")
    .argument("<zone>", "its name")
    .option(...whichTarget)
    .option(...asJson)
    .action((zone, options) =>
      run(async () => (await import("../update/ask-target.ts")).list({ ...options, zone }, io)),
    );

  verb("show", "one record")
    .argument("<record>", "its id")
    .option(...whichTarget)
    .option(...asJson)
    .action((record, options) =>
      run(async () => (await import("../update/ask-target.ts")).show({ ...options, record }, io)),
    );

  verb("status", "each name: wanted, stored, published, when, why, next")
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/status.ts")).status(options, io)));

  verb("history", "what the updating client did, and what failed")
    .option("--last <count>", "only the newest", readCount)
    .option(...asJson)
    .action((options) => run(async () => (await import("../update/history.ts")).history(options, io)));

  verb("init", "makes a config for the updating client, step by step or from options")
    .description(
      "Looks at the firewall and the record service, tries one round without writing, writes config and secrets.",
    )
    .option("--firewall <url>", "the firewall")
    .option(
      "--firewall-key-file <file>",
      "a file with the lines key=… and secret=…, as the firewall offers it",
      readPath,
    )
    .option("--firewall-fingerprint <sha256>", "of the certificate that it must show, or of who signed it")
    .option("--records <url>", "the record service")
    .option("--api <api>", "which API it speaks: v1 or rrsets")
    .option("--token-file <file>", "a file with its token", readPath)
    .option("--records-fingerprint <sha256>", "of the certificate that it must show, or of who signed it")
    .option("--zone <zone>", "the zone of the name")
    .option("--name <name>", "the name inside the zone, @ for the zone itself")
    .option("--create", "make the records of the name where there are none yet, with the addresses of the moment")
    .option("--ipv4 <interface>", "where the A record has its address from, or none")
    .option("--ipv6 <interface>", "where the AAAA record has its address from, or none")
    .option("--yes", "believe the certificates that are shown, and write the config when the round went well")
    .option("--force", "overwrite files that are there")
    .option("--control <host:port>", "where its page is on this machine (default: 127.0.0.1:9053), or none")
    .option("--unit <file>", "write a systemd unit there as well", readPath)
    .action((options) => run(async () => (await import("../init/init.ts")).init(options, io)));
}
