import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realPause } from "../../../../test/rig/real-pause.ts";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { wholeAccount } from "../../../core/may.ts";
import { createHttpServer } from "../../../lib/http/server.ts";
import { createLog } from "../../../process/log.ts";
import { createRecordService, type RecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { rrsetsApi } from "../rrsets/routes.ts";
import { v1Api } from "../v1/routes.ts";

let store: RecordStore;
let service: RecordService;
let server: ReturnType<typeof createHttpServer>;
let account: number;
let zoneId: string;
let soaId: string;
/** Called after each look at the token of a request. */
let looked = async (): Promise<void> => undefined;

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", 1)).id;
  service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const owner = { account, label: "owner", scope: wholeAccount };
  const made = await service.createZone(owner, { name: "example.org", ttl: 60 });
  if (made.kind !== "done") throw new Error(made.kind);
  zoneId = made.zone.id;
  soaId = (await store.sets(made.zone, { owner: "@" }))[0]?.records[0]?.id ?? "";
  const looking = {
    ...store,
    tokenByHash: async (hash: string) => {
      const token = await store.tokenByHash(hash);
      await looked();
      return token;
    },
  };
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  server = createHttpServer({ bodyLimit: 1024 * 1024 });
  await server.register(v1Api({ service, store: looking, now: Date.now, log }), { prefix: "/api/v1" });
  await server.register(rrsetsApi({ service, store: looking, now: Date.now, log }), { prefix: "/v1" });
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
  await realPause(100, "the service has checked the token and waits for the body");
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

const lines = Array.from({ length: 1_000 }, (_, i) => `late${i} 60 A 192.0.2.1`);
const zonefile = [
  "@ 60 SOA ns1.example.net. h.example.net. 1 7200 900 1209600 300",
  "@ NS ns1.example.net.",
  ...lines,
].join("\n");
const many = (more: object) =>
  JSON.stringify({
    records: lines.map((_, i) => ({ zone_id: zoneId, type: "A", name: `late${i}`, value: "192.0.2.1", ...more })),
  });

describe("a token that is revoked while a large request is worked on", () => {
  it.each([
    { what: "a v1 import", request: "POST", path: () => `/api/v1/zones/${zoneId}/import`, body: () => zonefile },
    { what: "new v1 records", request: "POST", path: () => "/api/v1/records/bulk", body: () => many({}) },
    {
      what: "changed v1 records",
      request: "PUT",
      path: () => "/api/v1/records/bulk",
      body: () => many({ id: soaId }),
    },
    {
      what: "an import",
      request: "POST",
      path: () => "/v1/zones/example.org/actions/import_zonefile",
      body: () => JSON.stringify({ zonefile }),
    },
    {
      what: "a new zone",
      request: "POST",
      path: () => "/v1/zones",
      body: () => JSON.stringify({ name: "late.example", mode: "primary", zonefile }),
    },
  ])("writes nothing: $what", async ({ request, path, body }) => {
    const secret = createToken();
    const token = { account, name: "slow", hash: hashSecret(secret), scope: wholeAccount, created: 0 };
    const { id } = await store.addToken(token);
    let looks = 0;
    // The second look is the last one before the work begins.
    looked = async () => {
      looks += 1;
      if (looks === 2) await store.revokeToken(id, Date.now());
    };
    const { port } = server.server.address() as { port: number };
    const headers = { "auth-api-token": secret, "content-type": "application/json" };
    const before = await store.lastChange();
    const answer = await fetch(`http://127.0.0.1:${port}${path()}`, { method: request, headers, body: body() });
    expect([answer.status, await store.lastChange()]).toEqual([401, before]);
  });
});
