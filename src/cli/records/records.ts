import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { aborted } from "node:util";
import type { ServiceLink } from "../../contract/console.ts";
import { bracketed, parseAddress } from "../../core/addresses/address.ts";
import { parseName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { overQuotaText, type Quotas } from "../../core/quotas.ts";
import { fail, type Result } from "../../core/result.ts";
import { alsoAt, isLoopbackName, type ListenAddress, urlOf } from "../../lib/http/listen.ts";
import { closeInReverse, type Opened, openSystemd } from "../../process/lifecycle.ts";
import { createLog, type Logger } from "../../process/log.ts";
import { placeholderNameservers } from "../../records/options.ts";
import { type RunningRecords, startRecords } from "../../records/start.ts";
import { startKeepingHistory } from "../../records/tools/keep-history.ts";
import { trimTables } from "../../records/tools/tables/open.ts";
import type { Webhook } from "../../records/webhooks/settings.ts";
import { awaitSecondaries } from "../../serving/await-secondaries.ts";
import { type RunningDns, startDns } from "../../serving/start.ts";
import { type AcmeFlags, describeAcme, publicUrl, readAcme } from "../io/acme-options.ts";
import { type CertificateOptions, readCertificate } from "../io/certificate-option.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { type ObserveFlags, proxiesOf } from "../io/observe-options.ts";
import { type OidcFlags, readOidc } from "../io/oidc-option.ts";
import type { LogFlags } from "../io/options.ts";
import { printFaults } from "../io/print-faults.ts";
import { noteServiceUrl } from "../io/service-url.ts";
import { printSignIn } from "../io/sign-in.ts";
import { storeFlags } from "../io/try-lines.ts";
import { readStorePlace } from "../store/read-store-place.ts";
import { notePublisher } from "./publisher.ts";
import { readTransferFlags, type TransferFlags } from "./transfer-flags.ts";
import { watchRecords } from "./watch.ts";

export type RecordsCommand = LogFlags &
  ObserveFlags &
  CertificateOptions &
  AcmeFlags &
  OidcFlags &
  TransferFlags &
  DatabaseOptions & {
    readonly listen: ListenAddress;
    readonly name: readonly string[];
    readonly link?: readonly ServiceLink[];
    readonly nameserver: readonly string[];
    /** A name, with a dot for the @. */
    readonly hostmaster?: string;
    readonly dns: readonly ListenAddress[];
    readonly dnsWorkers: number;
    readonly dnsBatches: boolean;
    readonly dnsTls: readonly ListenAddress[];
    readonly nsid?: string;
    readonly plainHttp?: boolean;
    /** Calls per minute and token or session; 0: no limit. */
    readonly rateLimit: number;
    readonly accountRateLimit?: number;
    readonly quota: Quotas;
    readonly recordsPerZone: number;
    readonly recordsPerAccount: number;
    readonly valuesPerSet: number;
    /** Milliseconds; infinite to keep everything. */
    readonly keepHistory: number;
    /** A file that lists webhooks. */
    readonly webhooks?: string;
  };

export async function records(options: RecordsCommand, io: CommandIo): Promise<number> {
  const log = createLog({ format: options.logFormat, write: io.err });
  const settings = await readSettings(options, io);
  if (settings === "refused") return 2;
  const opened: Opened[] = [];
  try {
    const service = await startService(options, settings, log);
    opened.push({ name: "record service", close: service.close });
    await startDuties(service, options, settings, { log, opened });
    const dns = await startNameserver(service, options, settings, { log, opened });
    const metrics = await watchRecords(service, dns, { at: options.metrics, opened });
    const stopped = aborted(io.signal, io.signal).then(() => undefined);
    await Promise.race([dns.loaded, stopped]);
    printPlaces({ service, dns, metrics }, options, io);
    await announce(service, options, settings, io);
    const systemd = openSystemd({ env: io.env, status: "serving its zones" });
    opened.push({ name: "service manager", close: () => systemd.close() });
    systemd.ready();
    const trouble = await (service.outgrown ? Promise.race([stopped, service.outgrown]) : stopped);
    service.drain();
    await sleep(options.drain * 1_000);
    if (trouble) throw trouble;
    return 0;
  } finally {
    await closeInReverse(opened, log);
  }
}

type Settings = Exclude<Awaited<ReturnType<typeof readSettings>>, "refused">;
type Opening = { readonly log: Logger; readonly opened: Opened[] };

/** Reads what the options name, or says what is wrong with them. */
async function readSettings(options: RecordsCommand, io: CommandIo) {
  const refused = "refused" as const;
  const nameservers = readNameservers(options.nameserver);
  if (typeof nameservers === "string") {
    refuse(2, `--nameserver: ${nameservers}`, io);
    return refused;
  }
  const transfers = readTransferFlags(options);
  if (!transfers.ok) {
    printFaults(transfers.faults, io);
    return refused;
  }
  if (options.plainHttp && options.dnsTls.length > 0) {
    refuse(2, "--dns-tls needs the certificate of the service; remove --plain-http", io);
    return refused;
  }
  const webhooks = await readWebhooksFile(options.webhooks, io);
  if (!webhooks.ok) {
    printFaults(webhooks.faults, io);
    return refused;
  }
  if (webhooks.value.length > options.quota.webhooks) {
    refuse(2, `--webhooks: ${overQuotaText("webhooks", options.quota.webhooks)}`, io);
    return refused;
  }
  const certificate = readCertificate(options, io);
  if (certificate === "half") return refused;
  const acme = await readAcme(options, options.name, io);
  if (acme === "refused") return refused;
  const oidc = await readOidc(options, io);
  if (oidc === "refused") return refused;
  return {
    nameservers,
    transfers: transfers.value,
    webhooks: webhooks.value,
    certificate,
    acme: acme.acme,
    oidc: oidc.oidc,
    database: await readStorePlace(options, io),
    dataFolder: resolve(io.cwd, options.data),
  };
}

function startService(options: RecordsCommand, settings: Settings, log: Logger): Promise<RunningRecords> {
  const { acme, certificate, database, dataFolder, nameservers, oidc, transfers } = settings;
  return startRecords({
    database,
    dataFolder,
    listen: options.listen,
    names: options.name,
    services: () => options.link ?? [],
    oidc,
    nameservers,
    hostmaster: options.hostmaster,
    catalog: transfers.catalog,
    allowedPrimaries: options.allowPrimary,
    log,
    ...certificate,
    ...(acme && { acme: { ...acme, awaitServed: awaitSecondaries(transfers.notify) } }),
    plainHttp: options.plainHttp ?? false,
    proxies: proxiesOf(options),
    accessLog: options.accessLog,
    counted: options.metrics !== undefined,
    recordLimits: {
      zone: options.recordsPerZone,
      account: options.recordsPerAccount,
      set: options.valuesPerSet,
      quotas: options.quota,
    },
    callsPerMinute: { caller: options.rateLimit, account: options.accountRateLimit ?? 10 * options.rateLimit },
  });
}

/** What only the leading node does, besides what every record service does. */
async function startDuties(
  { store, duties }: RunningRecords,
  { keepHistory }: RecordsCommand,
  { database, webhooks }: Settings,
  { log, opened }: Opening,
): Promise<void> {
  if (Number.isFinite(keepHistory)) {
    const open = () => trimTables(database);
    const keep = () => startKeepingHistory({ open, keep: keepHistory, now: Date.now, log });
    opened.push({ name: "history", close: duties.whenLeading(keep) });
  }
  if (webhooks.length > 0) {
    const { deliverWebhooks } = await import("../../records/webhooks/deliver.ts");
    const send = () => deliverWebhooks(webhooks, { store, log, now: Date.now, random: Math.random });
    opened.push({ name: "webhooks", close: duties.whenLeading(send) });
  }
}

async function startNameserver(
  { store, duties, tls, acme }: RunningRecords,
  options: RecordsCommand,
  { database, dataFolder, nameservers, transfers }: Settings,
  { log, opened }: Opening,
): Promise<RunningDns> {
  const dns = await startDns({
    listen: options.dns,
    store,
    nameservers,
    dataFolder,
    // A SQLite database has only one history.
    mayLose: database.kind === "postgres",
    log,
    transfers,
    duties,
    workers: options.dnsWorkers,
    inBatches: options.dnsBatches,
    nsid: options.nsid,
    ...(tls && options.dnsTls.length > 0 && { overTls: { listen: options.dnsTls, tls } }),
  });
  opened.push({ name: "nameserver", close: dns.close });
  // Only now: the authority will ask the nameserver.
  if (acme) opened.push({ name: "ACME orders", close: duties.whenLeading(acme.lead) });
  return dns;
}

/** Tells people, and other commands on this machine, how to use the service. */
async function announce(
  service: RunningRecords,
  options: RecordsCommand,
  { dataFolder, database, nameservers }: Settings,
  io: CommandIo,
): Promise<void> {
  const where = storeFlags(options, database);
  io.out(`To create a token: ${io.program} token add ${where}\n`);
  const url = options.plainHttp ? behindProxy : publicUrl(service.acme, service.url);
  if (!options.plainHttp) await noteServiceUrl(dataFolder, "records", url);
  await notePublisher(dataFolder, { nameservers, hostmaster: options.hostmaster });
  const command = `${io.program} sign-in ${where} --url ${url}`;
  const makeLink = (await service.needsSignInLink()) ? () => service.createSignInLink("main", url) : undefined;
  const caFile = service.acme?.expires() ? undefined : service.caFile;
  await printSignIn({ name: "console", url, command, makeLink, caFile }, io);
}

function printPlaces(
  running: { readonly service: RunningRecords; readonly dns: RunningDns; readonly metrics: ListenAddress | undefined },
  options: RecordsCommand,
  io: CommandIo,
): void {
  const { service, dns, metrics } = running;
  io.out(`The record service listens on ${service.url}${alsoAt(options.listen)}\n`);
  io.out(`Its API is described at ${service.url}/docs\n`);
  if (service.caFile) io.out(`Clients must trust the certificate in ${service.caFile}\n`);
  if (service.acme) io.out(describeAcme(service.acme, service.url));
  for (const { host, port } of dns.addresses) io.out(`The nameserver listens on ${host} port ${port}, UDP and TCP\n`);
  for (const { host, port } of dns.tlsAddresses) io.out(`The nameserver listens on ${host} port ${port}, over TLS\n`);
  if (metrics) io.out(`Metrics and health are at ${urlOf(metrics, "http")}/metrics and /health/ready\n`);
  if (options.nameserver.length === 0)
    io.out(
      `New zones get ${placeholderNameservers[0]} as a placeholder; give the names of your nameservers with --nameserver\n`,
    );
  if (options.plainHttp && !isLoopbackName(bracketed(options.listen.host))) {
    io.out("Tokens and passwords are not encrypted on this port: make it reachable only from the proxy\n");
  }
  if (options.plainHttp && options.trustProxy.length === 0) {
    io.out("No proxy is trusted, so all callers count as one; give yours with --trust-proxy NETWORK\n");
  }
}

/** The console's cookie needs TLS, and the public name of the proxy is not known here. */
const behindProxy = "https://YOUR-PROXY";

function readNameservers(texts: readonly string[]): readonly [string, ...string[]] | string {
  const address = texts.find((text) => parseAddress(text.replace(/\.$/, "")) !== undefined);
  if (address !== undefined) return `${address} is an address; give a name, such as ns1.example.org`;
  const names = texts.map((text) => parseTyped(parseName, text));
  const faults = names.flatMap((name) => (name.ok ? [] : name.faults));
  if (faults.length > 0) return faults.map((fault) => fault.message).join("; ");
  const [first, ...others] = names.flatMap((name) => (name.ok ? [name.value] : []));
  return first === undefined ? placeholderNameservers : [first, ...others];
}

/** The webhooks that the file lists; none without a file. */
async function readWebhooksFile(file: string | undefined, io: CommandIo): Promise<Result<readonly Webhook[]>> {
  if (file === undefined) return { ok: true, value: [] };
  const path = resolve(io.cwd, file);
  const { readWebhooks } = await import("../../records/webhooks/settings.ts");
  try {
    return readWebhooks(await readFile(path, "utf8"), file, (relative) => resolve(dirname(path), relative));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fail({
      code: "unreadable",
      where: file,
      message: `it cannot be read (${code})`,
      todo: "correct --webhooks",
    });
  }
}
