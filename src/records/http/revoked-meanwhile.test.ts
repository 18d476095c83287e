import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken, hashSecret } from "../../access/secret.ts";
import { wholeAccount } from "../../core/may.ts";
import { createHttpServer } from "../../process/http/server.ts";
import { createLog } from "../../process/log.ts";
import { rrsetsApi } from "../http-rrsets/routes.ts";
import { v1Api } from "../http-v1/routes.ts";
import { createRecordService, type RecordService } from "../service/service.ts";
import type { RecordStore } from "../store/port.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";

let store: RecordStore;
let service: RecordService;
let server: ReturnType<typeof createHttpServer>;
let account: number;
let zoneId: string;

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", 1)).id;
  service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const owner = { account, label: "owner", scope: wholeAccount };
  const made = await service.createZone(owner, { name: "example.org", ttl: 60 });
  if (made.kind !== "done") throw new Error(made.kind);
  zoneId = made.zone.id;
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  server = createHttpServer({ bodyLimit: 1024 * 1024 });
  await server.register(v1Api({ service, store, now: Date.now, log }), { prefix: "/api/v1" });
  await server.register(rrsetsApi({ service, store, now: Date.now, log }), { prefix: "/v1" });
  await server.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close();
  await store.close();
});

/** The answer to a request that is complete only after `meanwhile`. */
async function sendSlowly(head: string, body: string, meanwhile: () => Promise<unknown>): Promise<string> {
  const { port } = server.server.address() as { port: number };
  const socket = connect(port, "127.0.0.1");
  socket.write(`${head}\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
  socket.write(body.slice(0, 1));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await meanwhile();
  socket.write(body.slice(1));
  const [answer] = await once(socket, "data");
  socket.destroy();
  return String(answer);
}

const record = () => JSON.stringify({ zone_id: zoneId, type: "A", name: "late", value: "192.0.2.1" });
const records = JSON.stringify({ records: [{ value: "192.0.2.1" }] });

describe("a token that is revoked while a request is being sent", () => {
  it.each([
    { request: "POST /api/v1/records", body: record },
    { request: "POST /api/v1/records/bulk", body: () => `{"records":[${record()}]}` },
    { request: "PUT /v1/zones/example.org/rrsets/late/A/records", body: () => records },
    { request: "POST /v1/zones/example.org/rrsets/late/A/actions/add_records", body: () => records },
    { request: "DELETE /v1/zones/example.org", body: () => "{}" },
  ])("no longer writes: $request", async ({ request, body }) => {
    const secret = createToken();
    const token = { account, name: "slow", hash: hashSecret(secret), scope: wholeAccount, created: 0 };
    const { id } = await store.addToken(token);
    const head = `${request} HTTP/1.1\r\nAuth-API-Token: ${secret}`;
    const answer = await sendSlowly(head, body(), () => store.revokeToken(id, Date.now()));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    const zone = await store.zone(account, zoneId);
    expect(zone && (await store.sets(zone, { owner: "late" }))).toEqual([]);
  });
});
