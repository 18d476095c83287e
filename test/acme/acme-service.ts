import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { expect, onTestFinished } from "vitest";
import { wholeAccount } from "../../src/core/may.ts";
import type { AcmeCertificate } from "../../src/lib/acme/keep-certificate.ts";
import type { AcmeOptions } from "../../src/lib/acme/obtain-certificate.ts";
import { createLog } from "../../src/process/log.ts";
import { createRecordService } from "../../src/records/service.ts";
import { type RecordsOptions, type RunningRecords, startRecords } from "../../src/records/start.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { startDns } from "../../src/serving/start.ts";
import type { Pebble } from "../rig/pebble.ts";
import { until } from "../rig/until.ts";

/** A record service with an ACME certificate, and the nameserver that the authority queries. */
export type AcmeService = RunningRecords & {
  readonly acme: AcmeCertificate;
  /** Starts to order certificates. */
  readonly lead: () => void;
  /** Messages with their fields. */
  readonly logged: () => readonly Record<string, string>[];
  /** Sets the clock of the service forward. */
  readonly pass: (ms: number) => void;
  /** Replaces one set in example.org. */
  readonly put: (name: string, type: string, ...values: readonly string[]) => Promise<void>;
  /** The values of `_acme-challenge.dns.example.org`. */
  readonly challenges: () => Promise<readonly string[]>;
  /** Resolves when the authority's certificate is in use. */
  readonly issued: () => Promise<Date>;
  readonly stop: () => Promise<void>;
};

export const hostName = "dns.example.org";
const nameservers = ["ns1.example.net"] as const;

type Given = Partial<AcmeOptions> &
  Pick<RecordsOptions, "database"> & { readonly folder?: string; readonly dnsPort?: number };

export const acmeOf = ({ directory, trust, httpPort }: Pebble): AcmeOptions => ({
  ...{ mail: "a@example.org", directory, trust, names: [hostName], every: 20 },
  http: { host: "127.0.0.1", port: httpPort },
});

export async function startAcmeService(pebble: Pebble, given: Given = {}): Promise<AcmeService> {
  const { folder = await mkdtemp(join(tmpdir(), "moor-acme-")), database, dnsPort = pebble.dnsPort, ...acme } = given;
  const lines: string[] = [];
  const log = createLog({ format: "json", write: (line) => lines.push(line) });
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const service = await startRecords({
    ...{ dataFolder: folder, listen: { host: "127.0.0.1", port: 0 }, names: [hostName], nameservers, log, now },
    ...{ ...(database && { database }), acme: { ...acmeOf(pebble), ...acme } },
  });
  const { store } = service;
  const at = { host: "127.0.0.1", port: dnsPort };
  const dns = await startDns({ listen: [at], store, nameservers, log, duties: service.duties });
  const { actor, operations } = await ensureZone(store);
  const { account } = actor;
  let end: (() => Promise<void>) | undefined;
  if (service.acme === undefined) throw new Error("there is no ACME certificate to keep");
  const { acme: kept } = service;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      await end?.();
      await dns.close();
      await service.close();
    })();
    return stopped;
  };
  onTestFinished(stop);
  return {
    ...service,
    acme: kept,
    lead: () => {
      end = service.duties.whenLeading(kept.lead);
    },
    logged: () => lines.map((line) => JSON.parse(line)),
    pass: (ms) => {
      ahead += ms;
    },
    put: async (name, type, ...values) => {
      const records = values.map((value) => ({ value, comment: "" }));
      const draft = { kind: "put", draft: { records } } as const;
      expect(await operations.editSet(actor, { zone, name, type }, draft)).toMatchObject({ kind: "done" });
    },
    challenges: async () => {
      const found = await store.zoneBy(account, zone);
      const sets = found ? await store.sets(found, { owner: "_acme-challenge.dns", type: "TXT" }) : [];
      return sets.flatMap((set) => set.records.map(({ value }) => value));
    },
    issued: async () => {
      if (end === undefined) end = service.duties.whenLeading(kept.lead);
      await until(() => kept.expires() !== undefined, { what: () => `a certificate: ${lines.join("")}` });
      return kept.expires() as Date;
    },
    stop,
  };
}

const zone = { name: "example.org" };

/** The zone example.org in the account main. */
export async function ensureZone(store: RecordStore) {
  const operations = createRecordService({ store, now: Date.now, nameservers });
  const { id: account } = await store.ensureAccount("main", Date.now());
  const actor = { account, label: "test", scope: wholeAccount };
  const draft = { ...zone, ttl: 300, content: { kind: "sets", sets: [] } } as const;
  if ((await store.zoneBy(account, zone)) === undefined)
    expect(await operations.createZone(actor, draft)).toMatchObject({ kind: "done" });
  return { actor, operations };
}

/** A connection that trusts only `ca`, as a client that asks for `servername`. */
export async function connectTo(url: string, servername: string, ca: string): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), servername, ca }, resolve);
  socket.once("error", reject);
  await promise;
  onTestFinished(() => void socket.destroy());
  return socket;
}

export const serialOf = (socket: TLSSocket): string => socket.getPeerX509Certificate()?.serialNumber ?? "";

/** One request over an open connection. */
export async function ask(socket: TLSSocket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once("data", (data) => resolve(String(data).split("\r\n")[0] ?? ""));
  socket.once("close", () => reject(new Error("the connection was closed")));
  socket.write("GET /health/live HTTP/1.1\r\nHost: dns.example.org\r\n\r\n");
  return await promise;
}
