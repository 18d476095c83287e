import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { OidcSettings } from "../access/oidc/settings.ts";
import type { PasswordCost } from "../access/password.ts";
import { signInLink } from "../access/session.ts";
import type { SharedSignIn } from "../access/shared-sign-in.ts";
import type { ServiceLink } from "../contract/console.ts";
import type { AcmeCertificate } from "../lib/acme/keep-certificate.ts";
import type { AcmeOptions } from "../lib/acme/obtain-certificate.ts";
import { addressesOf, hereOf, type ListenAddress, listenOn, urlOf } from "../lib/http/listen.ts";
import { closeServer, createTlsServer, showPair } from "../lib/http/page-server.ts";
import { neverCached, transportSecurity } from "../lib/http/plain-request.ts";
import { readKernel } from "../lib/kernel/read.ts";
import type { KernelRow } from "../lib/kernel/row.ts";
import type { RunIpOptions } from "../lib/kernel/run-ip.ts";
import { watchKernel } from "../lib/kernel/watch.ts";
import { lockFor } from "../lib/sqlite/sole.ts";
import { type CertificateFiles, openTlsMaterial } from "../lib/tls/material.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { closeInReverse, type Opened } from "../process/lifecycle.ts";
import type { Logger } from "../process/log.ts";
import { type AccessStore, keysFile, openAccess } from "./access/store.ts";
import { type FirewallConfig, noConfig } from "./config.ts";
import { accessEndpoints } from "./http/access.ts";
import { createApi } from "./http/api.ts";
import { createFirewallConsole } from "./http/console.ts";
import { administrator, ensureUser } from "./http/console-link.ts";
import { InterfaceEventStreams } from "./http/events.ts";
import { statusEndpoints } from "./http/status.ts";
import { coalesceReads } from "./kernel/coalesce-reads.ts";
import { type Ping, probeGateways } from "./kernel/probe-gateways.ts";
import { readActivity } from "./kernel/read-activity.ts";
import { withDetails } from "./kernel/read-details.ts";
import { activityOf } from "./report/activity.ts";
import { consoleTraffic } from "./report/counters.ts";
import { createReportFeed, type ReportFeed } from "./report/feed.ts";
import { readArp } from "./report/neighbours.ts";
import { type Snapshot, takeSnapshot } from "./report/report.ts";
import { type Route, readRoutes } from "./report/routes.ts";

export type FirewallOptions = {
  readonly dataFolder: string;
  readonly listen: ListenAddress;
  /** The option that set `listen`, for error messages; --listen if absent. */
  readonly listenOption?: string;
  readonly log: Logger;
  /** Further names and addresses that clients use for this machine. */
  readonly names?: readonly string[];
  /** The operator's certificate, instead of one from the private authority. */
  readonly certificate?: CertificateFiles;
  /** A certificate from an ACME authority for public names; other names keep the one from the private authority. */
  readonly acme?: AcmeOptions | undefined;
  readonly config?: FirewallConfig;
  /** The folder of the built pages, if not next to this program. */
  readonly pages?: string;
  /** The other services, for the switcher of the pages. */
  readonly services?: () => readonly ServiceLink[];
  /** One sign-in for all services in the same process. */
  readonly shared?: SharedSignIn;
  /** The identity provider at which people can sign in to the pages. */
  readonly oidc?: OidcSettings | undefined;
  readonly read?: (signal: AbortSignal) => Promise<readonly KernelRow[]>;
  /** Absent: the current cost. For tests. */
  readonly passwordCost?: PasswordCost;
  readonly readRoutes?: (which: "default" | "all", options: RunIpOptions) => Promise<readonly Route[]>;
  /** Called once, on the first connection. */
  readonly onFirstConnection?: () => void;
  /** Sends echo requests to the gateways of the default routes, and reports those that do not answer as down. */
  readonly probesGateways?: boolean;
  /** Instead of the program `ping`. */
  readonly ping?: Ping;
};

export type RunningFirewall = {
  readonly url: string;
  readonly address: ListenAddress;
  /** The CA that clients must trust; absent with the operator's certificate. */
  readonly caFile?: string | undefined;
  readonly acme: AcmeCertificate | undefined;
  /**
   * A URL that signs in to the pages once, within 15 minutes; as the administrator if no user is given. `origin`: if
   * people use another address.
   */
  readonly createSignInLink: (user?: string, origin?: string) => Promise<string>;
  /** True while no user has a password, so that a link is the only way in. */
  readonly needsSignInLink: () => boolean;
  readonly close: () => Promise<void>;
};

/** Milliseconds. A report in a response is never older. */
const maxAge = 200;

/** Milliseconds over which processor shares are measured, and for how long a measurement is reused. */
const [measureFor, reuseFor] = [1_000, 5_000];

function startProbe(
  readDefault: (which: "default") => Promise<readonly Route[]>,
  { log, ping }: FirewallOptions,
  signal: AbortSignal,
  opened: Opened[],
) {
  let reported = "";
  const gateways = async () =>
    (await readDefault("default")).flatMap(({ dev, gateway }) => (gateway === undefined ? [] : [{ dev, gateway }]));
  const onFailure = (error: unknown) => {
    const because = error instanceof Error ? error.message : String(error);
    if (because !== reported) log.warn({ because }, "the gateways could not be probed; moor tries again");
    reported = because;
  };
  const stop = new AbortController();
  const probe = probeGateways({ gateways, onFailure, ping }, AbortSignal.any([signal, stop.signal]));
  const close = async () => {
    stop.abort();
    await probe.ended;
  };
  opened.push({ name: "gateway probe", close });
  return probe.healthOf;
}

export async function startFirewall(options: FirewallOptions): Promise<RunningFirewall> {
  const { dataFolder, log } = options;
  const opened: Opened[] = [];
  try {
    await openDataFolder(dataFolder);
    const inUse = `another moor firewall uses the folder ${dataFolder}; stop it, or choose another folder with --data`;
    opened.push({ name: "lock", close: lockFor(join(dataFolder, "firewall.lock"), inUse).close });
    const access = openAccess(keysFile(dataFolder), options.passwordCost);
    opened.push({ name: "users and keys", close: access.close });
    const stopping = new AbortController();
    opened.push({ name: "kernel reading", close: () => stopping.abort() });
    const machine = watchMachine(options, stopping.signal);
    const certificates = await openCertificates(options, opened);
    const { acme, caFile } = certificates;
    const service = openService(options, { access, machine, caFile, stopping: stopping.signal }, opened);
    const server = openServer(options, certificates, service, opened);
    const address = await listenOn(server, options.listen, options.listenOption);
    if (acme) opened.push({ name: "ACME orders", close: acme.lead() });
    const url = urlOf(hereOf(address));
    return {
      url,
      address,
      acme,
      caFile,
      createSignInLink: async (user, origin = url) => signInLink(origin, await service.console.makeLink(user)),
      needsSignInLink: service.console.isNew,
      close: () => closeInReverse(opened, log),
    };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}

async function openCertificates(options: FirewallOptions, opened: Opened[]) {
  const { dataFolder, log, certificate } = options;
  const tls = await openTlsMaterial({
    folder: dataFolder,
    pairName: "firewall",
    log,
    ...(certificate && { files: certificate }),
    names: () => [...(options.names ?? []), ...addressesOf(options.listen)],
  });
  opened.push({ name: "certificate", close: tls.close });
  const acme = options.acme && (await openAcme(options.acme, options, opened));
  return { tls, acme, caFile: tls.caFile };
}

type Parts = {
  readonly access: AccessStore;
  readonly machine: Machine;
  readonly caFile: string | undefined;
  readonly stopping: AbortSignal;
};

/** The API, the pages, and the event streams that both offer. */
function openService(options: FirewallOptions, { access, machine, caFile, stopping }: Parts, opened: Opened[]) {
  const { log, names, pages, services, shared, oidc } = options;
  const { feed, readSnapshot } = machine;
  const accessVersion = openAccessVersion(access, shared, opened);
  const streams = new InterfaceEventStreams({ feed, accessVersion });
  const [{ keys }, now, config] = [access, () => new Date(), options.config ?? noConfig];
  const read = { readSnapshot, ...readTables(options, stopping) };
  const healthOf = options.probesGateways ? startProbe(read.readRoutes, options, stopping, opened) : undefined;
  const endpoints = {
    ...statusEndpoints({ config, ...read, streams, keys, accessVersion, now, healthOf }),
    ...accessEndpoints(access, now),
  };
  const api = createApi({ keys, endpoints, log, now });
  // The owner of the services that share the sign-in owns this one too.
  if (shared) ensureUser(access, administrator, now());
  const readTraffic = async () => consoleTraffic(await readSnapshot(), await read.readRoutes("default"));
  const console = createFirewallConsole({
    access,
    log,
    now,
    services,
    names,
    shared,
    oidc,
    streams,
    readTraffic,
    caFile,
    pages,
  });
  return { api, console, streams };
}

/** Changes with every write to the users and keys, and when a session ends, also in another service of the process. */
function openAccessVersion(access: AccessStore, shared: SharedSignIn | undefined, opened: Opened[]): () => string {
  let ends = 0;
  const stopCounting = shared?.onEnd(() => {
    ends += 1;
  });
  opened.push({ name: "shared sign-in", close: () => stopCounting?.() });
  return () => `${access.version()} ${ends}`;
}

function openServer(
  { certificate, onFirstConnection, log }: FirewallOptions,
  { tls, acme }: Awaited<ReturnType<typeof openCertificates>>,
  { api, console, streams }: ReturnType<typeof openService>,
  opened: Opened[],
) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // On a router with the private authority, other servers under the same host name may use plain HTTP.
    const secured = certificate ? transportSecurity(request.headers.host) : {};
    for (const [name, value] of Object.entries({ ...neverCached, ...secured })) response.setHeader(name, value);
    if (!(await console.handle(request, response))) await api(request, response);
    // The request may have been a sign-out, or have revoked a key.
    streams.checkAccess();
  };
  const server = createTlsServer(
    { ...tls.pair, ...(acme && { SNICallback: acme.SNICallback }) },
    { handle: (request, response) => void answer(request, response), log },
  );
  server.once("connection", () => onFirstConnection?.());
  opened.push({ name: "firewall server", close: () => closeServer(server) });
  opened.push({ name: "event streams", close: () => streams.close() });
  tls.follow((pair) => showPair(server, pair));
  return server;
}

/** There are no zones here, so names are proved over HTTP. The code is loaded only if it is used. */
async function openAcme(acme: AcmeOptions, { dataFolder, log }: FirewallOptions, opened: Opened[]) {
  const [{ openAcmeCertificate }, { savedInFile }, { serveChallenges }] = await Promise.all([
    import("../lib/acme/keep-certificate.ts"),
    import("../lib/acme/saved.ts"),
    import("../lib/acme/http-challenge.ts"),
  ]);
  const kept = await openAcmeCertificate({
    ...acme,
    log,
    saved: savedInFile(dataFolder, "firewall-acme.json"),
    proofs: {
      canPublish: async () => false,
      publish: async () => undefined,
      serve: (answers) => serveChallenges(acme.http, answers),
    },
  });
  opened.push({ name: "ACME certificate", close: kept.close });
  return kept;
}

type Machine = { readonly feed: ReportFeed; readonly readSnapshot: () => Promise<Snapshot> };

function watchMachine({ config = noConfig, log, read }: FirewallOptions, stopping: AbortSignal): Machine {
  const now = () => performance.now();
  const readRows = read ?? (async (signal: AbortSignal) => withDetails(await readKernel({ signal })));
  const take = async () => {
    const takenAt = now();
    return takeSnapshot(await readRows(stopping), config, takenAt);
  };
  // Both share their readings: a client that asks after it got a change never sees an older state.
  const { readRecent, readNow } = coalesceReads(take, maxAge, now);
  const watch = (onChange: () => void, signal: AbortSignal) =>
    watchKernel({ onChange, log, signal: AbortSignal.any([signal, stopping]) });
  const epoch = String(Date.now());
  const feed = createReportFeed({ readRecent, readNow, watch, epoch, log, now, stopping });
  return { feed, readSnapshot: readRecent };
}

function readTables({ readRoutes: read = readRoutes }: FirewallOptions, signal: AbortSignal) {
  const measure = async () => {
    const before = await readActivity();
    await setTimeout(measureFor, undefined, { signal });
    return activityOf(before, await readActivity(), new Date());
  };
  return {
    readRoutes: (which: "default" | "all") => read(which, { signal }),
    readArp: () => readArp({ signal }),
    readActivity: coalesceReads(measure, reuseFor, () => performance.now()).readRecent,
  };
}
