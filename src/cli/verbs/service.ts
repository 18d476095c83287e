import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import { quotaNames } from "../../core/quotas.ts";
import { acmeOptions } from "../io/acme-options.ts";
import { certificateOptions } from "../io/certificate-option.ts";
import type { CommandIo, Run } from "../io/command-io.ts";
import { connectionsOption, databaseOptions } from "../io/database-options.ts";
import { observeOptions } from "../io/observe-options.ts";
import { oidcOption } from "../io/oidc-option.ts";
import {
  allowPrimary,
  logOptions,
  quotaOption,
  readFolder,
  readHosts,
  readLinks,
  readListen,
  readListens,
  readMailbox,
  readNsid,
  readPath,
  readRateLimit,
  readRecordCount,
  readValueCount,
  readWorkers,
  repeated,
} from "../io/options.ts";
import { keepHistoryOption } from "../records/keep-history-option.ts";

/** The services, alone or together. Each verb's code is loaded when it is used. */
export function addServiceVerbs(program: Command, io: CommandIo, run: Run): void {
  addUpVerb(program, io, run);
  addRecordsVerb(program, io, run);
  addFirewallVerb(program, io, run);
}

function addUpVerb(program: Command, io: CommandIo, run: Run): void {
  const up = program
    .command("up")
    .summary("Runs all three programs on this machine, to try them.")
    .description(
      "Starts the record service, the firewall status service and the updater in one process, over HTTPS on " +
        "loopback, with a zone home.test whose records follow this machine's addresses.",
    )
    .option("--data <folder>", "where everything is stored", readFolder, "./moor-data")
    .option("--interface <name>", "the interface to follow (default: the one with the default route)")
    .option(
      "--host [address]",
      "also accept connections from other machines; links use this address or name (default: the address of the interface)",
    )
    .option("--records <host:port>", "where the record service listens", readListen, readListen("127.0.0.1:8053"))
    .option("--firewall <host:port>", "where the firewall service listens", readListen, readListen("127.0.0.1:8443"))
    .option("--dns <host:port>", "where the nameserver listens", readListen, readListen("127.0.0.1:5300"))
    .option("--updater <host:port>", "where the updater serves its page", readListen, readListen("127.0.0.1:9053"))
    .option("--metrics <host:port>", "also serve the record service's /metrics and /health on this address", readListen)
    .option("--examples", "also print what was created, and commands to try in another terminal");
  oidcOption(up).action((options) => run(async () => (await import("../up/up.ts")).up(options, io)));
}

function addRecordsVerb(program: Command, io: CommandIo, run: Run): void {
  const records = program
    .command("records")
    .summary("Runs the DNS record service.")
    .description(
      "Serves zones and records over HTTPS: the v1 API under /api/v1, the rrsets (record-set) API under /v1, both described at /docs.",
    )
    .option("--data <folder>", "where the database and the certificates are stored", readFolder, "./moor-data")
    .option("--listen <host:port>", "where to listen", readListen, readListen("127.0.0.1:8053"))
    .option("--name <host>", "an additional host name or address for the certificate (may be repeated)", readHosts, [])
    .option(
      "--link <service=url>",
      "link from the pages to those of dns, firewall or updater (may be repeated)",
      readLinks,
      [],
    )
    .option("--nameserver <host>", "a nameserver of new zones (may be repeated)", repeated, [])
    .option("--hostmaster <mail>", "the address in the SOA of new zones, such as dns@example.org", readMailbox);
  limitOptions(dnsOptions(records)).addOption(
    new Option("--plain-http", "no TLS: only behind a TLS proxy, given with --trust-proxy").conflicts(["cert", "key"]),
  );
  connectionsOption(databaseOptions(records));
  transferOptions(
    acmeOptions(certificateOptions(logOptions(observeOptions(keepHistoryOption(oidcOption(records)))))),
  ).action((options) => run(async () => (await import("../records/records.ts")).records(options, io)));
}

const dnsOptions = (records: Command): Command =>
  records
    .option("--dns <host:port>", "also answer DNS on this address, over UDP and TCP (may be repeated)", readListens, [])
    .option("--webhooks <file>", "a file that lists where changes of chosen names are sent", readPath)
    .addOption(
      new Option("--dns-workers <count>", "number of threads that answer DNS over UDP; with 0, the main thread does")
        .argParser(readWorkers)
        .default(availableParallelism() > 1 ? 1 : 0, "1, or 0 on a single processor"),
    )
    .option("--no-dns-batches", "the threads of --dns-workers read and send one DNS datagram at a time")
    .option(
      "--dns-tls <host:port>",
      "also answer DNS and transfer zones over TLS, such as 192.0.2.1:853 (may be repeated)",
      readListens,
      [],
    )
    .option("--nsid <text>", "the name of this server, for DNS clients that ask for it (NSID), such as ns1", readNsid);

const limitOptions = (records: Command): Command =>
  records
    .option(
      "--rate-limit <calls>",
      "calls per minute per token and session, such as 300/min, or off; callers on this machine have no limit",
      readRateLimit,
      readRateLimit("3000/min"),
    )
    .option(
      "--account-rate-limit <calls>",
      "calls per minute of all tokens and sessions of an account (default: ten times --rate-limit)",
      readRateLimit,
    )
    .option("--records-per-zone <count>", "how many records a zone may have", readRecordCount, 1_000_000)
    .option(
      "--records-per-account <count>",
      "how many records all zones of an account may have",
      readRecordCount,
      10_000_000,
    )
    .option(
      "--values-per-set <count>",
      "how many values the APIs and DNS UPDATE may give a record set, at most 2500",
      readValueCount,
      100,
    )
    .addOption(
      quotaOption(`how many ${quotaNames.join(", ")} an account may have, such as tokens=5000 (may be repeated)`),
    );

function addFirewallVerb(program: Command, io: CommandIo, run: Run): void {
  const firewall = program
    .command("firewall")
    .summary("Runs the firewall status service.")
    .description("Serves the addresses of this machine's interfaces over HTTPS, in the format of OPNsense's API.")
    .option("--data <folder>", "where the keys and the certificates are stored", readFolder, "./moor-data")
    .option("--listen <host:port>", "where to listen", readListen, readListen("127.0.0.1:8443"))
    .option("--name <host>", "an additional host name or address for the certificate (may be repeated)", readHosts, [])
    .option(
      "--link <service=url>",
      "link from the pages to those of dns, firewall or updater (may be repeated)",
      readLinks,
      [],
    )
    .option("--config <file>", "the file that names and hides interfaces (default: firewall.yaml in --data)", readPath)
    .option("--probe-gateways", "ping the gateways of the default routes, and report those that do not answer as down");
  acmeOptions(certificateOptions(logOptions(oidcOption(firewall)))).action((options) =>
    run(async () => (await import("../firewall/firewall.ts")).firewall(options, io)),
  );
}

/** Zone transfers from and to other nameservers. The values are checked in `records/transfer-flags.ts`. */
function transferOptions(command: Command): Command {
  return command
    .option(
      "--transfer-to <network>",
      "let this network transfer every zone without a key (may be repeated)",
      repeated,
      [],
    )
    .option("--notify <host:port[,key]>", "a nameserver to notify of changes (may be repeated)", repeated, [])
    .option(
      "--primary-tls <host:port[,pin]>",
      "transfer secondary zones from this server over TLS; with the pin of its key, sha256/..., only from that key (may be repeated)",
      repeated,
      [],
    )
    .option("--catalog [name]", "also serve a catalog zone that lists all zones")
    .option(...allowPrimary);
}
