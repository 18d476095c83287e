import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { createLog } from "../../src/process/log.ts";
import { type RunningRecords, startRecords } from "../../src/records/start.ts";

/** The record service as an HTTP/2 client sees it. */

let folder: string;
let service: RunningRecords;
let client: ClientHttp2Session;
let token: { readonly id: number; readonly secret: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-http2-"));
  service = await startRecords({
    ...{ dataFolder: folder, names: [], nameservers: ["ns1.example.net"] as const },
    listen: { host: "127.0.0.1", port: 0 },
    log: createLog({ format: "json", write: () => undefined }),
  });
  const { id: account } = await service.store.ensureAccount("main", Date.now());
  const secret = createToken();
  const named = { account, name: "test", hash: hashSecret(secret), scope: wholeAccount, created: 0 };
  token = { id: (await service.store.addToken(named)).id, secret };
  client = connect(service.url, { ca: await readFile(join(folder, "ca.pem")) });
});
afterAll(async () => {
  client?.destroy();
  await service?.close();
  await rm(folder, { recursive: true });
});

const begin = (path: string, method = "GET") =>
  client.request({ ":path": path, ":method": method, authorization: `Bearer ${token.secret}` });

async function call(path: string, method = "GET", body?: unknown) {
  const stream = begin(path, method);
  // Without a length, as clients that compress or stream send it.
  stream.end(body === undefined ? undefined : JSON.stringify(body));
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return { status: headers[":status"], body: JSON.parse((await text(stream)) || "null") as unknown };
}

async function listen() {
  const stream = begin("/v1/events").setEncoding("utf8");
  let said = "";
  stream.on("data", (part: string) => {
    said += part;
  });
  await once(stream, "data");
  return { said: () => said, closed: once(stream, "close") };
}

it("reads and writes while events arrive, all on one connection", async () => {
  const events = await listen();
  const zone = { name: "h2.example", mode: "primary" };
  expect(await call("/v1/zones", "POST", zone)).toMatchObject({ status: 201 });
  const records = [{ value: "192.0.2.7" }];
  expect(
    await call("/v1/zones/h2.example/changes", "POST", { changes: [{ name: "www", type: "A", records }] }),
  ).toMatchObject({ status: 201 });
  await expect.poll(events.said).toContain('"name":"www"');
  expect(await call("/v1/zones/h2.example/rrsets/www/A")).toMatchObject({ body: { rrset: { records } } });
  // The v1 API does not know this kind of authorization, and leaves the body unread.
  expect(await call("/api/v1/zones", "POST", { name: "x".repeat(2_000_000) })).toMatchObject({ status: 401 });
  expect(await call("/v1/zones/none.example")).toMatchObject({ status: 404 });
});

it("ends a stream when its token is revoked, and keeps the connection", async () => {
  const events = await listen();
  await service.store.revokeToken(token.id, Date.now());
  await events.closed;
  expect(await call("/v1/zones")).toMatchObject({ status: 401 });
});
