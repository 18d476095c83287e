import { readFile } from "node:fs/promises";
import { Server as TlsServer } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";
import { signInLink } from "../access/session.ts";
import type { Network } from "../core/addresses/network.ts";
import type { Instant } from "../core/instant.ts";
import { openDataFolder } from "../process/data-folder.ts";
import type { DatabaseTrouble } from "../process/database/migration-steps.ts";
import type { Duties } from "../process/duties.ts";
import { createHealth, type Health } from "../process/health.ts";
import { type TrustedProxies, trustProxies } from "../process/http/client-address.ts";
import { createRequestCounters } from "../process/http/request-counters.ts";
import { createHttpServer, giveLastAnswers, type HttpServerOptions, listen } from "../process/http/server.ts";
import { showPair } from "../process/http/tls-server.ts";
import { addressesOf, hereOf, type ListenAddress, urlOf } from "../process/listen-address.ts";
import type { Logger } from "../process/log.ts";
import { leaveHalfTheFiles } from "../process/open-files.ts";
import { closeInReverse, type Opened } from "../process/shutdown.ts";
import { type CertificateFiles, openTlsMaterial } from "../process/tls/material.ts";
import { serveConsole } from "./console/http.ts";
import { createConsoleSessions } from "./console/sessions.ts";
import { serveDocs } from "./http/docs.ts";
import { dyndnsApi } from "./http/dyndns.ts";
import { observeHttp } from "./http/observe.ts";
import { rrsetsApi, sendNoPath } from "./http-rrsets/routes.ts";
import { sendNoRoute, v1Api } from "./http-v1/routes.ts";
import { tieNodes } from "./node-ties.ts";
import { openStore, recordsDatabase, type StorePlace } from "./open-store.ts";
import { printRecordMetrics } from "./print-metrics.ts";
import { createRecordService } from "./service/service.ts";
import type { RecordStore } from "./store/port.ts";

export type RecordsOptions = {
  /** For certificates, and for the database when no other place is named. */
  readonly dataFolder: string;
  readonly database?: StorePlace;
  readonly listen: ListenAddress;
  /** By which option `listen` was chosen, for whoever has to choose another; absent: --listen. */
  readonly listenOption?: string;
  /** Further host names and addresses for the certificate. */
  readonly names: readonly string[];
  /** The operator's certificate, instead of one from the private authority. */
  readonly certificate?: CertificateFiles;
  readonly nameservers: readonly [string, ...string[]];
  /** The mailbox in the SOA of new zones; absent: hostmaster at the first name server. */
  readonly hostmaster?: string | undefined;
  /** Addresses beyond those on the internet that may be primary servers of secondary zones. */
  readonly allowedPrimaries?: readonly Network[] | undefined;
  readonly log: Logger;
  /** Absent: the clock of the machine. */
  readonly now?: () => Instant;
  /** Calls a minute that each token has, callers on this machine aside; absent: no limit. */
  readonly rateLimit?: number;
  /** Where the built pages are, when not beside this program. */
  readonly pages?: string;
  /** Plain HTTP, for use behind a proxy that speaks TLS. */
  readonly plainHttp?: boolean;
  /** Whose word about callers is believed; absent: nobody's. */
  readonly proxies?: TrustedProxies | undefined;
  /** A log line for every request. */
  readonly accessLog?: boolean | undefined;
  /** Requests are counted, for `/metrics`. */
  readonly counted?: boolean;
};

export type RunningRecords = {
  readonly url: string;
  /** What clients must trust; not there with the operator's certificate. */
  readonly caFile?: string;
  /** For what is fed from the change log beside the HTTP faces. */
  readonly store: RecordStore;
  /** For what one of all nodes on the database must do. */
  readonly duties: Duties;
  /**
   * An address that signs in to the console, once and within 15 minutes; an account of a new name is made. At the service's own
   * address, unless people come to it by another.
   */
  readonly createSignInLink: (account: string, origin?: string) => Promise<string>;
  /** True while no account has a password, so that a link is the only way in. */
  readonly needsSignInLink: () => Promise<boolean>;
  /** Whether it should be sent requests. Whoever gives it more to do adds a part. */
  readonly health: Health;
  /** It answers as before, but is not ready any more and keeps no connection open. */
  readonly drain: () => void;
  /** Settles when it has to stop, as a newer program has made its database one that it cannot work on. */
  readonly outgrown: Promise<DatabaseTrouble> | undefined;
  /** In the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  readonly close: () => Promise<void>;
};

export async function startRecords(options: RecordsOptions): Promise<RunningRecords> {
  const { dataFolder, log, now = Date.now } = options;
  await openDataFolder(dataFolder);
  const place = options.database ?? { kind: "sqlite", path: recordsDatabase(dataFolder) };
  const opening = await openStore(place, log);
  const { store, console: consoleStore, look, connect, connections, outgrown, close } = opening;
  const opened: Opened[] = [{ name: "database", close }];
  const ties = tieNodes({ connect, perMinute: options.rateLimit, log });
  opened.push({ name: "ties to other nodes", close: ties.close });
  const health = createHealth();
  health.add("store", async () => void (await look()));
  const requests = createRequestCounters();
  const streams = { open: 0 };
  try {
    const http = {
      bodyLimit,
      sendBadPath,
      proxies: options.proxies && trustProxies(options.proxies),
      counters: options.counted ? requests : undefined,
    };
    const { server, caFile } = options.plainHttp
      ? { server: createHttpServer(http), caFile: undefined }
      : await createTlsServer(options, { http, health, opened });
    opened.push({ name: "record service", close: () => server.close() });
    leaveHalfTheFiles(server.server, log);
    server.setNotFoundHandler(sendNoRoute);
    observeHttp(server, { health, log, accessLog: options.accessLog });
    await serveDocs(server);
    const sessions = createConsoleSessions(store, consoleStore, now);
    const { guesses } = consoleStore;
    const readCa = caFile === undefined ? undefined : () => readFile(caFile, "utf8");
    await server.register(serveConsole({ store, sessions, guesses, now, log, readCa, pages: options.pages }));
    const { nameservers, hostmaster, allowedPrimaries } = options;
    const service = createRecordService({ store, now, nameservers, hostmaster, allowedPrimaries });
    const shared = { service, store, now, log, ...(ties.rateLimit && { rateLimit: ties.rateLimit }) };
    await server.register(v1Api(shared), { prefix: "/api/v1" });
    await server.register(rrsetsApi({ ...shared, signedIn: sessions.signedIn, events: { streams } }), {
      prefix: "/v1",
    });
    await server.register(dyndnsApi(shared));
    const address = await listen(server, options.listen, options.listenOption);
    const url = urlOf(hereOf(address), options.plainHttp ? "http" : "https");
    return {
      url,
      ...(caFile !== undefined && { caFile }),
      store,
      duties: ties.duties,
      createSignInLink: async (account, origin = url) => signInLink(origin, await sessions.makeLink(account)),
      needsSignInLink: async () => !(await consoleStore.hasAnyPassword()),
      health,
      drain: () => {
        health.stop();
        giveLastAnswers(server.server);
      },
      outgrown,
      metrics: () => printRecordMetrics({ requests, store, connections, streams }),
      close: () => {
        health.stop();
        return closeInReverse(opened, log);
      },
    };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}

const bodyLimit = 1024 * 1024;

const sendBadPath = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  request.url.startsWith("/v1/") ? sendNoPath(reply) : sendNoRoute(request, reply);

/** A new certificate is shown from the next connection on; nothing has to be restarted for it. */
async function createTlsServer(
  { dataFolder, listen: at, names, certificate, log }: RecordsOptions,
  { http, health, opened }: { http: HttpServerOptions; health: Health; opened: Opened[] },
) {
  const tls = await openTlsMaterial({
    ...{ folder: dataFolder, pairName: "server" as const, log, ...(certificate && { files: certificate }) },
    names: () => [...names, ...addressesOf(at)],
  });
  opened.push({ name: "certificate", close: tls.close });
  const server = createHttpServer({ ...http, tls: tls.pair });
  health.add("certificate", tls.trouble);
  tls.follow((pair) => {
    if (server.server instanceof TlsServer) showPair(server.server, pair);
  });
  return { server, caFile: tls.caFile };
}
