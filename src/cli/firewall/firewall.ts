import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type FirewallConfig, noConfig } from "../../firewall/config.ts";
import { startFirewall } from "../../firewall/start.ts";
import { openDataFolder, readFileIfThere } from "../../process/data-folder.ts";
import { alsoAt, type ListenAddress } from "../../process/listen-address.ts";
import { createLog } from "../../process/log.ts";
import { shellWord } from "../../process/shell-word.ts";
import { letCompilersRun } from "../../process/small-footprint.ts";
import { openSystemd } from "../../process/systemd.ts";
import { browserWarning } from "../io/browser-warning.ts";
import { type CertificateOptions, readCertificate } from "../io/certificate-option.ts";
import type { CommandIo } from "../io/command-io.ts";
import { linkToShow } from "../io/link-to-show.ts";
import type { LogOptions } from "../io/options.ts";
import { tellFaults } from "../io/tell-faults.ts";
import { curlForInterfaces, dataFlag } from "../io/try-lines.ts";
import { untilStopped } from "../io/until-stopped.ts";

export type FirewallCommand = LogOptions &
  CertificateOptions & {
    readonly data: string;
    readonly listen: ListenAddress;
    readonly name: readonly string[];
    readonly config?: string;
  };

export async function firewall(options: FirewallCommand, io: CommandIo): Promise<number> {
  const data = resolve(io.cwd, options.data);
  const certificate = readCertificate(options, io);
  if (certificate === "half") return 2;
  const config = await loadFirewallConfig(options, data, io);
  if (config === undefined) return 2;
  const service = await startFirewall({
    dataFolder: data,
    listen: options.listen,
    names: options.name,
    log: createLog({ format: options.logFormat, write: io.err }),
    config,
    onFirstConnection: letCompilersRun,
    ...certificate,
  });
  io.out(`The firewall status service listens on ${service.url}${alsoAt(options.listen)}\n`);
  const caFile = service.caFile ?? resolve(io.cwd, options.cert ?? "");
  io.out(service.caFile ? `Clients must trust the certificate in ${caFile}\n` : `Its certificate is ${caFile}\n`);
  tellNext({ url: service.url, caFile, keyFile: join(data, "firewall-key.txt") }, data, io);
  const signIn = `${io.program} sign-in --firewall ${dataFlag({ data })} --url ${service.url}`;
  if (!service.needsSignInLink()) {
    io.out(`Its pages are at ${service.url}; a lost password: ${signIn}\n`);
  } else {
    const link = await linkToShow(() => service.createSignInLink(), io);
    if (link === undefined) io.out(`A link that signs in to its pages is made with: ${signIn}\n`);
    else io.out(`Sign in to its pages with this link, once and within 15 minutes:\n  ${link}\n`);
    if (link !== undefined && service.caFile) io.out(browserWarning(service.caFile));
  }
  const systemd = openSystemd({ env: io.env, status: "telling of this machine's interfaces" });
  systemd.ready();
  await untilStopped(io.signal);
  systemd.close();
  await service.close();
  return 0;
}

function tellNext(
  where: { readonly url: string; readonly caFile: string; readonly keyFile: string },
  data: string,
  io: CommandIo,
): void {
  io.out("Try it:\n");
  if (!existsSync(where.keyFile))
    io.out(`  ${io.program} key add ${dataFlag({ data })} --to ${shellWord(where.keyFile)}\n`);
  io.out(`  ${curlForInterfaces(where)}\n`);
}

/** Undefined after saying everything that is wrong with it. The YAML library is loaded only for those who have a file. */
async function loadFirewallConfig(
  options: FirewallCommand,
  data: string,
  io: CommandIo,
): Promise<FirewallConfig | undefined> {
  if (options.config === undefined) await openDataFolder(data);
  const file = options.config === undefined ? join(data, "firewall.yaml") : resolve(io.cwd, options.config);
  const text = await readFileIfThere(file);
  if (text === undefined && options.config !== undefined) io.err(`There is no file ${options.config}\n`);
  if (text === undefined) return options.config === undefined ? noConfig : undefined;
  const read = (await import("./read-config.ts")).readFirewallConfig(text, file);
  if (read.kind === "config") return read.config;
  tellFaults(read.faults, io);
  return undefined;
}
