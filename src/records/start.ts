import { join } from "node:path";
import { ensureCertificate } from "../process/certificates.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { createHttpServer, type ListenAddress, listen, urlOf } from "../process/http-server.ts";
import type { Logger } from "../process/log.ts";
import { closeInReverse, type Opened } from "../process/shutdown.ts";
import { serveDocs } from "./http-docs.ts";
import { sendNoRoute, v1Api } from "./http-v1.ts";
import { createRecordService } from "./service.ts";
import type { RecordStore } from "./store.ts";
import { openSqliteStore } from "./store-sqlite.ts";

export type RecordsOptions = {
  readonly dataFolder: string;
  readonly listen: ListenAddress;
  /** Further host names and addresses for the certificate. */
  readonly names: readonly string[];
  readonly nameservers: readonly [string, ...string[]];
  readonly log: Logger;
  /** Plain HTTP, for use behind a proxy that speaks TLS. */
  readonly plainHttp?: boolean;
};

export type RunningRecords = {
  readonly url: string;
  readonly caFile: string;
  /** For what is fed from the change log beside the HTTP faces. */
  readonly store: RecordStore;
  readonly close: () => Promise<void>;
};

export const recordsDatabase = (dataFolder: string): string => join(dataFolder, "records.sqlite");

export async function startRecords(options: RecordsOptions): Promise<RunningRecords> {
  const { dataFolder, log } = options;
  await openDataFolder(dataFolder);
  const certificate = await ensureCertificate(dataFolder, [options.listen.host, ...options.names], new Date());
  const store = openSqliteStore(recordsDatabase(dataFolder));
  const opened: Opened[] = [{ name: "database", close: store.close }];
  try {
    const server = createHttpServer({ ...(options.plainHttp ? {} : { tls: certificate }), bodyLimit: 1024 * 1024 });
    opened.push({ name: "record service", close: () => server.close() });
    server.setNotFoundHandler(sendNoRoute);
    server.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
    await serveDocs(server);
    const service = createRecordService({ store, now: Date.now, nameservers: options.nameservers });
    await server.register(v1Api({ service, store, now: Date.now, log }), { prefix: "/api/v1" });
    const address = await listen(server, options.listen);
    const url = urlOf(address, options.plainHttp ? "http" : "https");
    return { url, caFile: certificate.caFile, store, close: () => closeInReverse(opened, log) };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}
