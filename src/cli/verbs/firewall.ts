import type { Command } from "commander";
import { certificateOptions } from "../io/certificate-option.ts";
import type { CommandIo, Run } from "../io/command-io.ts";
import { logOptions, readFolder, readHosts, readListen, readPath } from "../io/options.ts";

export function addFirewallVerb(program: Command, io: CommandIo, run: Run): void {
  const firewall = program
    .command("firewall")
    .summary("the firewall status service")
    .description("Serves the addresses of this machine's interfaces over HTTPS, as an OPNsense would.")
    .option("--data <folder>", "where the keys and the certificates are kept", readFolder, "./moor-data")
    .option("--listen <host:port>", "where to listen", readListen, readListen("127.0.0.1:8443"))
    .option("--name <host>", "a further host name or address for the certificate (may be repeated)", readHosts, [])
    .option(
      "--config <file>",
      "which interfaces are hidden, and how they are called (default: firewall.yaml in --data)",
      readPath,
    );
  certificateOptions(logOptions(firewall)).action((options) =>
    run(async () => (await import("../firewall/firewall.ts")).firewall(options, io)),
  );
}
