import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSecret } from "../../../src/access/secret.ts";
import { wholeAccount } from "../../../src/core/may.ts";
import { createLog } from "../../../src/process/log.ts";
import { startRecords } from "../../../src/records/start.ts";
import { startDns } from "../../../src/serving/start.ts";
import { forward } from "./configured-target.ts";
import type { TargetPeer } from "./target-faults.ts";

export const moorToken = "s".repeat(8).concat("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST");

/** The record service and the nameserver in this process. */
export async function openMoorPeer(settings: (dnsPort: number) => string): Promise<TargetPeer> {
  const dataFolder = await mkdtemp(join(tmpdir(), "moor-target-"));
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  const listen = { host: "127.0.0.1", port: 0 };
  const nameservers = ["ns1.example.net"] as const;
  const service = await startRecords({
    dataFolder,
    listen,
    names: [],
    nameservers,
    log,
    plainHttp: true,
    callsPerMinute: { caller: 1e6, account: 1e7 },
  });
  const { id } = await service.store.ensureAccount("main", Date.now());
  await service.store.addToken({
    ...{ account: id, name: "test", hash: hashSecret(moorToken), scope: wholeAccount, created: Date.now() },
  });
  const dns = await startDns({ listen: [listen], store: service.store, nameservers, log });
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${moorToken}`, "content-type": "application/json" };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${service.url}/v1${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  await call("POST", "/zones", { name: "example.org", mode: "primary" });
  const { zonefile: empty } = (await call("GET", "/zones/example.org/zonefile")) as { zonefile: string };
  type Listed = { name: string; type: string; ttl: number; records: { value: string }[] };
  const sets = async (): Promise<readonly Listed[]> => {
    const { rrsets } = (await call("GET", "/zones/example.org/rrsets?per_page=100")) as { rrsets: Listed[] };
    return rrsets.filter(({ name, type }) => type !== "SOA" && !(type === "NS" && name === "@"));
  };
  return {
    settings: settings(dns.addresses[0]?.port ?? 0),
    reply: (asked) => forward(service.url, asked),
    async fill(lines) {
      const zonefile = [empty, ...lines, ""].join("\n");
      await call("POST", "/zones/example.org/actions/import_zonefile", { zonefile });
    },
    held: async () =>
      (await sets())
        .flatMap(({ name, type, ttl, records }) => records.map(({ value }) => `${name} ${ttl} ${type} ${value}`))
        .toSorted(),
    async close() {
      await dns.close();
      await service.close();
    },
  };
}
