import type { Command } from "commander";
import type { CommandIo, Run } from "../io/command-io.ts";
import { readEach, readPath } from "../io/options.ts";

export function addInitVerb(program: Command, io: CommandIo, run: Run): void {
  const init = program
    .command("init")
    .summary("Writes a config for the updater, step by step, from options or from another program's config.")
    .description(
      "Looks for sources of the address (see --kind), asks which one to use and which service has the records, shows their certificates, " +
        "lists interfaces, zones and records to pick from, tries one round without writing anything, and writes the config and the secrets. " +
        "Without a terminal, give everything as options. With --from, everything comes from the config of another program, and nothing is sent.",
    )
    .option("--config <file>", "the updater's config file", readPath, "moor.yaml")
    .option(
      "--from <file>",
      "the config of ddclient, inadyn, ddns-updater, ddns-go, cloudflare-ddns or OpenWrt to take over; it is not changed",
      readPath,
    );
  nameOptions(targetOptions(sourceOptions(init)))
    .option("--yes", "trust the certificates that are shown, and write the config if the round succeeds")
    .option("--force", "overwrite existing files, and write the config even if the first round fails")
    .option(
      "--control <host:port>",
      "where the updater serves its page (default: 127.0.0.1:9053), or none; if other machines can reach that address, moor creates a password for the page",
    )
    .option("--unit <file>", "also write a systemd unit to this file", readPath)
    .action((options) => run(async () => (await import("../init/init.ts")).init(options, io)));
}

const sourceOptions = (init: Command): Command =>
  init
    .option(
      "--kind <kind>",
      "the kind of source, such as firewall, interface or web; to see them all, give any other word",
    )
    .option(
      "--source-set <setting=value>",
      "a setting of the source, as in the config, a list as [A, B]; for a secret, the path of a file that contains it (may be repeated)",
      readEach,
      [],
    )
    .option("--firewall <url>", "the URL of the firewall")
    .option(
      "--firewall-key-file <file>",
      "a file with the lines key=… and secret=…, as downloaded from the firewall",
      readPath,
    )
    .option(
      "--firewall-fingerprint <sha256>",
      "the fingerprint of its certificate, or of the authority that signed it",
    );

const targetOptions = (init: Command): Command =>
  init
    .option("--records <url>", "the URL of the record service")
    .option(
      "--api <api>",
      "which API it speaks, such as v1, rrsets or cloudflare; to see them all, give any other word",
    )
    .option(
      "--target-set <setting=value>",
      "a setting of the target, as in the config, a list as [A, B]; for a secret, the path of a file that contains it (may be repeated)",
      readEach,
      [],
    )
    .option("--token-file <file>", "a file with its token", readPath)
    .option("--records-fingerprint <sha256>", "the fingerprint of its certificate, or of the authority that signed it");

const nameOptions = (init: Command): Command =>
  init
    .option("--zone <zone>", "the zone of the name")
    .option("--name <name>", "the name inside the zone, @ for the zone itself")
    .option("--create", "create the records of the name if there are none yet, with the current addresses")
    .option(
      "--ipv4 <interface>",
      'the interface for the A record, "none", or "yes" if the source knows only one connection, such as web',
    )
    .option(
      "--ipv6 <interface>",
      'the interface for the AAAA record, "none", or "yes" if the source knows only one connection, such as web',
    );
