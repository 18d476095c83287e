import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../../test/rig/until.ts";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { type Scope, wholeAccount } from "../../../core/may.ts";
import { createHttpServer } from "../../../lib/http/server.ts";
import { createLog } from "../../../process/log.ts";
import { createRecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { rrsetsApi } from "../rrsets/routes.ts";
import { v1Api } from "../v1/routes.ts";

/** Of a zone. More than a file could have before files were written in parts. */
const mostRecords = 12_000;

let store: RecordStore;
let server: ReturnType<typeof createHttpServer>;
let url: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"], mostRecords });
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  server = createHttpServer({ bodyLimit: 1024 * 1024 });
  await server.register(v1Api({ service, store, now: Date.now, log }), { prefix: "/api/v1" });
  await server.register(rrsetsApi({ service, store, now: Date.now, log }), { prefix: "/v1" });
  url = await server.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await server.close();
  await store.close();
});

async function newToken(account: string, scope: Scope = wholeAccount): Promise<string> {
  const { id } = await store.ensureAccount(account, Date.now());
  const secret = createToken();
  await store.addToken({ account: id, name: secret, hash: hashSecret(secret), scope, created: 0 });
  return secret;
}

const call = (token: string, method: string, path: string, body?: string) =>
  fetch(`${url}${path}`, { method, headers: { "auth-api-token": token }, ...(body !== undefined && { body }) });

/** Sends the head of a request without its body; returns the head of the answer, if there is one. */
function sendHead(token: string, path: string, ...headers: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  sockets.push(socket);
  const head = [`POST ${path} HTTP/1.1`, "Host: x", `Auth-API-Token: ${token}`, ...headers];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return new Promise((resolve) => {
    socket.once("data", (data) => resolve(data.toString()));
    socket.once("error", () => undefined);
  });
}

const mebibyte = 1024 * 1024;
const soa = "@ IN SOA ns1.example.net. dns.example.net. 7 86400 10800 3600000 3600\n";
const zoneFile = (hosts: number) =>
  `$ORIGIN example.org.\n$TTL 600\n${soa}${Array.from({ length: hosts }, (_, i) => `h${i} A 192.0.2.1\n`).join("")}`;

describe("the size limit depends on what the token may write", () => {
  it.each<[string, Scope, string, number]>([
    ["may only read", { access: "read" }, "/api/v1/zones/file/validate", 413],
    ["may only read", { access: "read" }, "/api/v1/zones/z/import", 403],
    ["may write some sets", { access: "write", sets: [{ owner: "www" }] }, "/api/v1/zones/file/validate", 413],
    ["may write some sets", { access: "write", sets: [{ owner: "www" }] }, "/v1/zones", 413],
    ["may write no zone", { access: "write", zones: [] }, "/v1/zones/z.example/actions/import_zonefile", 413],
  ])("a token that %s is answered before a large body is read: %j %s", async (_, scope, path, status) => {
    const token = await newToken("reader", scope);
    const answer = await sendHead(token, path, `Content-Length: ${2 * mebibyte}`);
    expect(answer.split(" ", 2)).toEqual(["HTTP/1.1", String(status)]);
  });

  it("a read-only token cannot block the account's large bodies with a slow one", async () => {
    const token = await newToken("reader", { access: "read" });
    const answer = await sendHead(token, "/api/v1/records/bulk", `Content-Length: ${mebibyte / 2}`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("an unknown client is answered before the body is read", async () => {
    for (const path of ["/api/v1/zones/file/validate", "/v1/zones"])
      expect(await sendHead("wrong", path, `Content-Length: ${2 * mebibyte}`)).toMatch(
        /^HTTP\/1\.1 401 [\s\S]*^connection: close/im,
      );
  });

  it("omitting the length does not avoid the limit", async () => {
    const token = await newToken("reader", { access: "read" });
    const answer = sendHead(token, "/api/v1/zones/file/validate", "Transfer-Encoding: chunked");
    const lines = "\n".repeat(mebibyte);
    for (let i = 0; i < 3; i++) sockets.at(-1)?.write(`${mebibyte.toString(16)}\r\n${lines}\r\n`);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("any token may check small files; large ones only a token that may write a zone", async () => {
    const reader = await newToken("reader", { access: "read" });
    expect((await call(reader, "POST", "/api/v1/zones/file/validate", zoneFile(1_000))).status).toBe(200);
    const writer = await newToken("writer");
    const large = `${zoneFile(1)};`.padEnd(2 * mebibyte, ".");
    expect((await call(writer, "POST", "/api/v1/zones/file/validate", large)).status).toBe(200);
  });
});

describe("a file with more records than a zone may have", () => {
  it("is refused by both APIs, also for a new zone, and not read to its end; one that fits is written", async () => {
    const token = await newToken("importer");
    const text = zoneFile(mostRecords);
    const made = await call(token, "POST", "/v1/zones", JSON.stringify({ name: "example.org", mode: "primary" }));
    expect(made.status).toBe(201);
    const { zones } = (await (await call(token, "GET", "/api/v1/zones")).json()) as { zones: { id: string }[] };
    const answers = [
      await call(token, "POST", "/api/v1/zones/file/validate", text),
      await call(token, "POST", `/api/v1/zones/${zones[0]?.id}/import`, text),
      await call(token, "POST", "/v1/zones/example.org/actions/import_zonefile", JSON.stringify({ zonefile: text })),
      await call(
        token,
        "POST",
        "/v1/zones",
        JSON.stringify({ name: "x.example", mode: "primary", zonefile: text.slice(text.indexOf("\n") + 1) }),
      ),
    ];
    for (const answer of answers)
      expect([answer.status, await answer.text()]).toEqual([
        422,
        expect.stringContaining(`${mostRecords} records before this line`),
      ]);
    const fits = JSON.stringify({ zonefile: zoneFile(mostRecords - 10), other_nameservers: true });
    expect((await call(token, "POST", "/v1/zones/example.org/actions/import_zonefile", fits)).status).toBe(201);
  });
});

describe("large requests of one account", () => {
  it("do not delay the answers to others", async () => {
    const [hostile, victim] = [await newToken("hostile"), await newToken("victim")];
    let over = false;
    const validating = call(hostile, "POST", "/api/v1/zones/file/validate", zoneFile(9_000)).then((answer) => {
      over = true;
      return answer.status;
    });
    let answered = 0;
    while (!over) {
      expect((await call(victim, "GET", "/v1/zones")).status).toBe(200);
      answered += 1;
    }
    expect(await validating).toBe(200);
    expect(answered).toBeGreaterThan(5);
  });

  it("queue up to a limit; more get a Retry-After, and other accounts are not affected", async () => {
    const [hostile, victim] = [await newToken("greedy"), await newToken("modest")];
    const length = `Content-Length: ${100 * 1024}`;
    const answers = Array.from({ length: 12 }, () => sendHead(hostile, "/api/v1/zones/file/validate", length));
    const refused = await Promise.race(answers);
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/^retry-after: \d+/im);
    expect((await call(victim, "POST", "/api/v1/zones/file/validate", zoneFile(6_000))).status).toBe(200);
    expect((await call(hostile, "GET", "/v1/zones")).status).toBe(200);
    // A client that disconnects frees its place as soon as that is noticed.
    for (const socket of sockets.splice(0)) socket.destroy();
    const isTaken = async () =>
      (await call(hostile, "POST", "/api/v1/zones/file/validate", zoneFile(6_000))).status === 200;
    await until(isTaken, { what: () => "a large request after others were hung up" });
  });
});
