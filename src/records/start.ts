import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Server as TlsServer, type TlsOptions as TlsServerOptions } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";
import { IdentityProvider } from "../access/oidc/identity-provider.ts";
import type { OidcSettings } from "../access/oidc/settings.ts";
import type { PasswordCost } from "../access/password.ts";
import { signInLink } from "../access/session.ts";
import type { SharedSignIn } from "../access/shared-sign-in.ts";
import type { ServiceLink } from "../contract/console.ts";
import type { Network } from "../core/addresses/network.ts";
import type { Instant } from "../core/instant.ts";
import { usualQuotas } from "../core/quotas.ts";
import type { AcmeCertificate } from "../lib/acme/keep-certificate.ts";
import type { Peer } from "../lib/dns/ask.ts";
import { createAskParent, type FindDelegation, findDelegationBy, systemDns } from "../lib/dns/delegation.ts";
import { type TrustedProxies, trustProxies } from "../lib/http/client-address.ts";
import { addressesOf, cutAllConnections, hereOf, type ListenAddress, urlOf } from "../lib/http/listen.ts";
import { showPair } from "../lib/http/page-server.ts";
import {
  createHttpServer,
  giveLastAnswers,
  type HttpServerOptions,
  listen,
  RequestCounters,
} from "../lib/http/server.ts";
import type { DatabaseTrouble } from "../lib/sqlite/migration-steps.ts";
import { lockFor } from "../lib/sqlite/sole.ts";
import { type CertificateFiles, openTlsMaterial, type TlsMaterial } from "../lib/tls/material.ts";
import { openDataFolder } from "../process/data-folder.ts";
import type { Duties } from "../process/duties.ts";
import { createHealth, type Health } from "../process/health.ts";
import { closeInReverse, type Opened } from "../process/lifecycle.ts";
import type { Logger } from "../process/log.ts";
import { dyndnsApi } from "./api/dyndns/dyndns.ts";
import { rrsetsApi, sendNoPath } from "./api/rrsets/routes.ts";
import { acmeChallengeApi } from "./api/shared/acme-challenge.ts";
import { serveDocs } from "./api/shared/docs.ts";
import { observeHttp } from "./api/shared/observe.ts";
import { sendNoRoute, v1Api } from "./api/v1/routes.ts";
import { checkKeyFile } from "./check-key-file.ts";
import { createUnknownPage, serveConsole } from "./console/http.ts";
import type { KnownUpdater } from "./console/overview.ts";
import { createConsoleSessions } from "./console/sessions.ts";
import { askingAgain } from "./front/ask-again.ts";
import { confirming } from "./front/confirm.ts";
import { TokenBudgets } from "./front/open-accounts.ts";
import { publishZones } from "./front/publisher.ts";
import { PublishingState } from "./front/publishing-metrics.ts";
import { type CallsPerMinute, joinNodes } from "./node-membership.ts";
import type { RecordsAcme } from "./open-acme.ts";
import { openStore, recordsDatabase, type StorePlace, signingKeyFile } from "./open-store.ts";
import { printRecordMetrics } from "./print-metrics.ts";
import { removeLeftovers } from "./remove-leftovers.ts";
import { createRecordService } from "./service.ts";
import { keepSigned } from "./signing/lifecycle/keep-signed.ts";
import { createSigningState, watchSigned } from "./signing/lifecycle/watch-signed.ts";
import type { RecordStore } from "./store/port.ts";
import type { RecordLimits } from "./store/record-limits.ts";

export type RecordsOptions = {
  /** For certificates, and for the database if no other location is given. */
  readonly dataFolder: string;
  readonly database?: StorePlace;
  readonly listen: ListenAddress;
  /** The option that set `listen`, for error messages; absent: --listen. */
  readonly listenOption?: string;
  /** Additional host names and addresses for the certificate. */
  readonly names: readonly string[];
  /** The operator's certificate, instead of one from the private authority. */
  readonly certificate?: CertificateFiles;
  /** A certificate from an ACME authority for public names; other names keep the one from the private authority. */
  readonly acme?: RecordsAcme | undefined;
  readonly nameservers: readonly [string, ...string[]];
  /** The mailbox in the SOA of new zones; absent: hostmaster at the first nameserver. */
  readonly hostmaster?: string | undefined;
  /** The name of the catalog zone; absent: there is none. */
  readonly catalog?: string | undefined;
  /** Non-public addresses that may be primary servers of secondary zones. */
  readonly allowedPrimaries?: readonly Network[] | undefined;
  readonly log: Logger;
  /** Absent: the system clock. */
  readonly now?: () => Instant;
  /** Absent: the current cost. For tests. */
  readonly passwordCost?: PasswordCost;
  /** Absent: asks the parent zones over DNS. For tests. */
  readonly findDelegation?: FindDelegation;
  /** Milliseconds that a write waits for the provider at most, if it is to be confirmed; absent: 30 seconds. */
  readonly confirmWithin?: number | undefined;
  /** Except from this machine; absent: no limits. */
  readonly callsPerMinute?: CallsPerMinute;
  /** Absent: no limits. */
  readonly recordLimits?: RecordLimits | undefined;
  /** The folder of the built pages, if not beside this program. */
  readonly pages?: string;
  /** The other services, for the switcher of the pages. */
  readonly services?: () => readonly ServiceLink[];
  /** The sign-in that services in the same process share. */
  readonly shared?: SharedSignIn;
  /** The identity provider at which people can sign in to the console. */
  readonly oidc?: OidcSettings | undefined;
  /** An updater in the same process, for the overview. */
  readonly updater?: () => KnownUpdater | undefined;
  /** Plain HTTP, for use behind a proxy that terminates TLS. */
  readonly plainHttp?: boolean;
  /** The proxies whose headers about the caller are trusted; absent: none. */
  readonly proxies?: TrustedProxies | undefined;
  /** Servers to ask for DS records, instead of those of each zone's parent. */
  readonly parents?: readonly Peer[] | undefined;
  /** Logs every request. */
  readonly accessLog?: boolean | undefined;
  /** Counts requests, for `/metrics`. */
  readonly counted?: boolean;
  /** Milliseconds between the heartbeats of an event stream; absent: the usual. For tests. */
  readonly heartbeat?: number;
};

export type RunningRecords = {
  readonly url: string;
  /** The CA certificate that clients must trust; absent with the operator's certificate. */
  readonly caFile?: string | undefined;
  /** The certificate of the service, for the nameserver; absent without TLS. */
  readonly tls?: (Pick<TlsMaterial, "pair" | "follow"> & Pick<TlsServerOptions, "SNICallback">) | undefined;
  /** Orders nothing before its `lead` is called: the authority will ask the nameserver. */
  readonly acme: AcmeCertificate | undefined;
  /** For other readers of the change log, such as the nameserver, and for the updates that it receives. */
  readonly store: RecordStore;
  /** For work that only one node on the database must do. */
  readonly duties: Duties;
  /**
   * A URL that signs in to the console, valid once and for 15 minutes. Creates the account if it does not exist.
   * `origin` replaces the service's own address if people use another one.
   */
  readonly createSignInLink: (account: string, origin?: string) => Promise<string>;
  /** True while no account has a password, so a link is the only way to sign in. */
  readonly needsSignInLink: () => Promise<boolean>;
  /** Whether the service is ready for requests. Other components add their own parts. */
  readonly health: Health;
  /** Still answers, but is no longer ready and closes connections after each answer. */
  readonly drain: () => void;
  /** Settles when the service must stop because a newer moor has upgraded its database. */
  readonly outgrown: Promise<DatabaseTrouble> | undefined;
  /** In the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly close: () => Promise<void>;
};

export async function startRecords(options: RecordsOptions): Promise<RunningRecords> {
  const node = await openNode(options);
  const { outgrown, console: consoleStore } = node.opening;
  const { health, opened } = node;
  try {
    const secured = await createServiceServer(options, node);
    const { server, caFile, acme, certificates, tls } = secured;
    // If the server cannot be closed in time, no further request reaches the store, which is closed next.
    opened.push({ name: "connections", close: () => cutAllConnections(server.server) });
    opened.push({ name: "record service", close: () => server.close() });
    const sessions = await serveAll(options, node, secured);
    const address = await listen(server, options.listen, options.listenOption);
    const url = urlOf(hereOf(address), options.plainHttp ? "http" : "https");
    return {
      url,
      caFile,
      tls,
      acme,
      store: node.confirmed,
      duties: node.membership.duties,
      createSignInLink: async (account, origin = url) => signInLink(origin, await sessions.makeLink(account)),
      needsSignInLink: async () => !(await consoleStore.hasAnyPassword()),
      health,
      drain: () => {
        health.stop();
        giveLastAnswers(server.server);
      },
      outgrown,
      metrics: () => printRecordMetrics({ ...node, ...node.opening, certificates }),
      close: () => {
        health.stop();
        return closeInReverse(opened, options.log);
      },
    };
  } catch (error) {
    await closeInReverse(opened, options.log);
    throw error;
  }
}

type Node = Awaited<ReturnType<typeof openNode>>;

/** The store, and what this node does without being asked. */
async function openNode(options: RecordsOptions) {
  const { dataFolder, log, now = Date.now } = options;
  await openDataFolder(dataFolder);
  const place = options.database ?? { kind: "sqlite", path: recordsDatabase(dataFolder) };
  const opening = await openStore(
    place.kind === "postgres" ? { keyFile: signingKeyFile(dataFolder), ...place } : place,
    log,
    options.recordLimits,
  );
  const { store, signer } = opening;
  const opened: Opened[] = [{ name: "database", close: opening.close }];
  if (place.kind === "sqlite") await lockStore(place.path, opened, log);
  const membership = joinNodes({ connect: opening.connect, perMinute: options.callsPerMinute, log });
  opened.push({ name: "connections to other nodes", close: membership.close });
  const signing = createSigningState();
  const askParent = createAskParent(options.parents);
  const signatures = opening.signChanges(membership.duties.isLeading);
  opened.push({ name: "signatures of changes", close: signatures.end });
  membership.duties.whenLeading(() => {
    signatures.lookForMore();
    return () => undefined;
  });
  const stopSigning = membership.duties.whenLeading(() => keepSigned({ store, askParent, now, log }));
  opened.push({ name: "signed zones", close: stopSigning });
  const stopRemoving = membership.duties.whenLeading(() => removeLeftovers({ store, now, log }));
  opened.push({ name: "deleted zones", close: stopRemoving });
  opened.push({ name: "state of signed zones", close: watchSigned({ store, now, log, state: signing }) });
  const published = createZoneFeed();
  const [budgets, state] = [new TokenBudgets(now), new PublishingState()];
  const stopPublishing = membership.duties.whenLeading(() =>
    publishZones({
      store,
      signer,
      now,
      random: Math.random,
      budgets,
      state,
      log,
      changed: published.announce,
    }),
  );
  opened.push({ name: "zones at providers", close: stopPublishing });
  const health = createHealth();
  health.add("store", async () => void (await opening.checkHealth()));
  // Without the key file, signed zones are still served, and other zones can be changed.
  health.add("keys", () => checkKeyFile(store, signer), { isNeeded: false });
  return {
    opening,
    opened,
    membership,
    signing,
    budgets,
    publishing: { store, state },
    confirmed: askingAgain(confirming(store, { onPublished: published.listen, longest: options.confirmWithin })),
    health,
    now,
    requests: new RequestCounters(),
    streams: { open: 0 },
  };
}

/** Tells in this process that something about a published zone was stored. */
function createZoneFeed() {
  const listeners = new Set<(zone: number) => void>();
  return {
    announce: (zone: number): void => {
      for (const listener of listeners) listener(zone);
    },
    listen: (listener: (zone: number) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function createServiceServer(options: RecordsOptions, { opening, health, opened, requests, now }: Node) {
  const http = {
    bodyLimit,
    log: options.log,
    sendBadPath,
    proxies: options.proxies && trustProxies(options.proxies),
    counters: options.counted ? requests : undefined,
  };
  return options.plainHttp
    ? { server: createHttpServer(http), caFile: undefined, acme: undefined, certificates: undefined, tls: undefined }
    : await createTlsServer({ ...options, now }, { http, health, opened, store: opening.store });
}

/** Adds the pages and APIs to the server. Returns the sessions of the console. */
async function serveAll(
  options: RecordsOptions,
  { opening, confirmed, budgets, membership, signing, health, streams, now }: Node,
  { server, caFile }: Awaited<ReturnType<typeof createServiceServer>>,
) {
  const { log, names, shared, services, updater, passwordCost, pages } = options;
  const { store, signer, console: consoleStore } = opening;
  const { limits } = membership;
  const quotas = options.recordLimits?.quotas ?? usualQuotas;
  const unknownPage = createUnknownPage(pages);
  server.setNotFoundHandler(
    async (request, reply) => (await unknownPage(request, reply)) ?? sendNoRoute(request, reply),
  );
  observeHttp(server, { health, log, accessLog: options.accessLog });
  await serveDocs(server, pages);
  const provider =
    options.oidc && new IdentityProvider(options.oidc, (what, fields) => log.info(fields, `console: ${what}`));
  const sessions = createConsoleSessions(store, consoleStore, now, { shared, passwordCost, provider, quotas });
  const service = createRecordService({
    store: confirmed,
    now,
    nameservers: options.nameservers,
    serviceNames: options.names,
    hostmaster: options.hostmaster,
    catalog: options.catalog,
    allowedPrimaries: options.allowedPrimaries,
    signer,
    budgets,
    mostValues: options.recordLimits?.set,
    mostProviders: quotas.providers,
    mostRecords: options.recordLimits?.zone,
  });
  const readCa = caFile === undefined ? undefined : () => readFile(caFile, "utf8");
  const { findDelegation = findDelegationBy(systemDns()) } = options;
  const { guesses } = consoleStore;
  const links = { services, names, updater, pages, readCa, findDelegation };
  await server.register(
    serveConsole({ ...links, store, service, sessions, signing, guesses, limits, quotas, now, log }),
  );
  const apiOptions = { service, store, now, log, limits };
  const { signedIn } = sessions;
  const events = { streams, ...(options.heartbeat && { heartbeat: options.heartbeat }) };
  await server.register(v1Api(apiOptions), { prefix: "/api/v1" });
  await server.register(rrsetsApi({ ...apiOptions, store: withEnds(store, shared), signedIn, events }), {
    prefix: "/v1",
  });
  await server.register(dyndnsApi(apiOptions));
  await server.register(acmeChallengeApi(apiOptions));
  return sessions;
}

const bodyLimit = 1024 * 1024;

const sendBadPath = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  request.url.startsWith("/v1/") ? sendNoPath(reply) : sendNoRoute(request, reply);

/** Access also ends when a session of another service that shares the sign-in ends. */
const withEnds = (store: RecordStore, shared: SharedSignIn | undefined): RecordStore =>
  shared === undefined
    ? store
    : {
        ...store,
        onAccessChange: (listener) => {
          const stops = [store.onAccessChange(listener), shared.onEnd(listener)];
          return () => {
            for (const stop of stops) stop();
          };
        },
      };

/** A new certificate is used from the next connection on, without a restart. */
async function createTlsServer(
  { dataFolder, listen: at, names, certificate, log, now, acme: acmeOptions }: RecordsOptions & { now: () => Instant },
  { http, health, opened, store }: { http: HttpServerOptions; health: Health; opened: Opened[]; store: RecordStore },
) {
  const tls = await openTlsMaterial({
    folder: dataFolder,
    pairName: "server" as const,
    log,
    ...(certificate && { files: certificate }),
    names: () => [...names, ...addressesOf(at)],
  });
  opened.push({ name: "certificate", close: tls.close });
  const acme = acmeOptions && (await (await import("./open-acme.ts")).openAcme(acmeOptions, store, now, log));
  if (acme) opened.push({ name: "ACME certificate", close: acme.close });
  const server = createHttpServer({ ...http, tls: { ...tls.pair, ...(acme && { SNICallback: acme.SNICallback }) } });
  health.add("certificate", () => tls.trouble() ?? acme?.trouble());
  tls.follow((pair) => {
    if (server.server instanceof TlsServer) showPair(server.server, pair);
  });
  const issuer = certificate === undefined ? "private" : "file";
  const expiry = () => ({ [issuer]: tls.expires(), ...(acme && { acme: acme.expires() }) });
  const certificates = { expiry, ...(acme && { failures: acme.failures }) };
  return {
    server,
    caFile: tls.caFile,
    acme,
    certificates,
    tls: { pair: tls.pair, follow: tls.follow, ...(acme && { SNICallback: acme.SNICallback }) },
  };
}

/** Two services on one file would both sign, notify and print sign-in links. Several nodes need PostgreSQL. */
async function lockStore(database: string, opened: Opened[], log: Logger): Promise<void> {
  const inUse = `another moor records uses ${database}; stop it, or choose another folder with --data`;
  try {
    opened.push({ name: "lock", close: lockFor(join(dirname(database), "records.lock"), inUse).close });
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}
