import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { ensureCertificate } from "../process/certificates.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { createHttpServer, type ListenAddress, listen, urlOf } from "../process/http-server.ts";
import type { Logger } from "../process/log.ts";
import { closeInReverse, type Opened } from "../process/shutdown.ts";
import { foldReads } from "./fold-reads.ts";
import { serveInterfaces } from "./http-interfaces.ts";
import type { KernelRow } from "./kernel-row.ts";
import { openKeys } from "./keys.ts";
import { phpJson } from "./php-json.ts";
import { readKernel } from "./read-kernel.ts";
import { reportOf } from "./report.ts";

export type FirewallOptions = {
  readonly dataFolder: string;
  readonly listen: ListenAddress;
  readonly log: Logger;
  /** Names and addresses that clients use for this machine, beside its own. */
  readonly names?: readonly string[];
  readonly read?: (signal: AbortSignal) => Promise<readonly KernelRow[]>;
};

export type RunningFirewall = {
  readonly url: string;
  readonly address: ListenAddress;
  readonly caFile: string;
  readonly close: () => Promise<void>;
};

/** Where the keys of a data folder are; `moor key` opens the same file. */
export const keysFile = (dataFolder: string): string => join(dataFolder, "firewall.sqlite");

/** A report handed out is never older. */
const maxAge = 200;

export async function startFirewall(options: FirewallOptions): Promise<RunningFirewall> {
  const { dataFolder, log, read = (signal) => readKernel({ signal }) } = options;
  const opened: Opened[] = [];
  try {
    await openDataFolder(dataFolder);
    const keys = openKeys(keysFile(dataFolder));
    opened.push({ name: "keys", close: keys.close });
    const stopping = new AbortController();
    opened.push({ name: "kernel reading", close: () => stopping.abort() });
    const readReport = async () => phpJson(reportOf(await read(stopping.signal)));
    const names = [...(options.names ?? []), ...namesFor(options.listen.host)];
    const certificate = await ensureCertificate(dataFolder, names, new Date());
    const server = createHttpServer({ tls: certificate, bodyLimit: 64 * 1024 });
    opened.push({ name: "firewall server", close: () => server.close() });
    serveInterfaces(server, { keys, log, readReport: foldReads(readReport, maxAge, () => performance.now()) });
    const address = await listen(server, options.listen);
    return { url: urlOf(address), address, caFile: certificate.caFile, close: () => closeInReverse(opened, log) };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}

/** Whoever listens everywhere is called by any of the machine's addresses. */
function namesFor(host: string): readonly string[] {
  if (host !== "0.0.0.0" && host !== "::") return [host];
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ family, scopeid }) => family === "IPv4" || scopeid === 0)
    .map(({ address }) => address);
}
