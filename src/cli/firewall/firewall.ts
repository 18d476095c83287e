import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { aborted } from "node:util";
import type { ServiceLink } from "../../contract/console.ts";
import { shellWord } from "../../core/shell-word.ts";
import { type FirewallConfig, noConfig } from "../../firewall/config.ts";
import { startFirewall } from "../../firewall/start.ts";
import { alsoAt, type ListenAddress } from "../../lib/http/listen.ts";
import { openDataFolder, readFileIfThere } from "../../process/data-folder.ts";
import { openSystemd } from "../../process/lifecycle.ts";
import { createLog } from "../../process/log.ts";
import { type AcmeFlags, describeAcme, publicUrl, readAcme } from "../io/acme-options.ts";
import { type CertificateOptions, readCertificate } from "../io/certificate-option.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type OidcFlags, readOidc } from "../io/oidc-option.ts";
import type { LogFlags } from "../io/options.ts";
import { printFaults } from "../io/print-faults.ts";
import { noteServiceUrl } from "../io/service-url.ts";
import { printSignIn } from "../io/sign-in.ts";
import { letCompilersRun } from "../io/small-footprint.ts";
import { curlForInterfaces, dataFlag } from "../io/try-lines.ts";

export type FirewallCommand = LogFlags &
  CertificateOptions &
  AcmeFlags &
  OidcFlags & {
    readonly probeGateways?: boolean;
    readonly data: string;
    readonly listen: ListenAddress;
    readonly name: readonly string[];
    readonly link?: readonly ServiceLink[];
    readonly config?: string;
  };

export async function firewall(options: FirewallCommand, io: CommandIo): Promise<number> {
  const data = resolve(io.cwd, options.data);
  const certificate = readCertificate(options, io);
  if (certificate === "half") return 2;
  const acme = await readAcme(options, options.name, io);
  if (acme === "refused") return 2;
  const oidc = await readOidc(options, io);
  if (oidc === "refused") return 2;
  const config = await loadFirewallConfig(options, data, io);
  if (config === undefined) return 2;
  const service = await startFirewall({
    dataFolder: data,
    listen: options.listen,
    names: options.name,
    services: () => options.link ?? [],
    log: createLog({ format: options.logFormat, write: io.err }),
    config,
    probesGateways: options.probeGateways ?? false,
    onFirstConnection: letCompilersRun,
    ...certificate,
    ...acme,
    ...oidc,
  });
  io.out(`The firewall status service listens on ${service.url}${alsoAt(options.listen)}\n`);
  const caFile = service.caFile ?? resolve(io.cwd, options.cert ?? "");
  io.out(service.caFile ? `Clients must trust the certificate in ${caFile}\n` : `Its certificate is ${caFile}\n`);
  if (service.acme) io.out(describeAcme(service.acme, service.url));
  printNext({ url: service.url, caFile, keyFile: join(data, "firewall-key.txt") }, data, io);
  const url = publicUrl(service.acme, service.url);
  await noteServiceUrl(data, "firewall", url);
  const command = `${io.program} sign-in --firewall ${dataFlag({ data })} --url ${url}`;
  const makeLink = service.needsSignInLink() ? () => service.createSignInLink(undefined, url) : undefined;
  const warnOf = service.acme?.expires() ? undefined : service.caFile;
  await printSignIn({ name: "pages", url, command, makeLink, caFile: warnOf }, io);
  const systemd = openSystemd({ env: io.env, status: "serving this machine's interfaces" });
  systemd.ready();
  await aborted(io.signal, io.signal);
  systemd.close();
  await service.close();
  return 0;
}

function printNext(
  where: { readonly url: string; readonly caFile: string; readonly keyFile: string },
  data: string,
  io: CommandIo,
): void {
  io.out("Try it:\n");
  if (!existsSync(where.keyFile))
    io.out(`  ${io.program} key add ${dataFlag({ data })} --to ${shellWord(where.keyFile)}\n`);
  io.out(`  ${curlForInterfaces(where)}\n`);
}

/** Undefined after printing everything that is wrong with it. The YAML library is loaded only if there is a file. */
async function loadFirewallConfig(
  options: FirewallCommand,
  data: string,
  io: CommandIo,
): Promise<FirewallConfig | undefined> {
  if (options.config === undefined) await openDataFolder(data);
  const file = options.config === undefined ? join(data, "firewall.yaml") : resolve(io.cwd, options.config);
  const text = await readFileIfThere(file);
  if (text === undefined && options.config !== undefined)
    io.err(`There is no file ${options.config}; correct the path in --config\n`);
  if (text === undefined) return options.config === undefined ? noConfig : undefined;
  const read = (await import("../../firewall/read-config.ts")).readFirewallConfig(text, file);
  if (read.ok) return read.value;
  printFaults(read.faults, io);
  return undefined;
}
