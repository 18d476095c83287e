import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect } from "vitest";
import { createToken, hashSecret } from "../../../src/access/secret.ts";
import { type Scope, wholeAccount } from "../../../src/core/may.ts";
import { createLog } from "../../../src/process/log.ts";
import { recordsDatabase } from "../../../src/records/open-store.ts";
import { type RunningRecords, startRecords } from "../../../src/records/start.ts";
import { openSqliteStore } from "../../../src/records/store/sqlite/store.ts";

type Sent = { readonly body?: string | Buffer; readonly headers?: Record<string, string>; readonly token?: string };

/** A record service with HTTPS on its own port, started and stopped with the test file, and a client of it. */
export function v1Service() {
  let service: RunningRecords;
  let folder: string;
  let agent: Agent;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "moor-v1-"));
    const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
    const listen = { host: "127.0.0.1", port: 0 };
    service = await startRecords({ dataFolder: folder, listen, names: [], nameservers: ["ns1.example.net"], log });
    agent = new Agent({ connect: { ca: await readFile(service.caFile ?? "", "utf8") } });
    token = await newToken("main");
  });
  afterAll(async () => {
    await agent.close();
    await service.close();
  });

  /** Written over a second connection to the database, like `moor token add` while the service runs. */
  async function newToken(account: string, scope: Scope = wholeAccount): Promise<string> {
    const secret = createToken();
    const store = openSqliteStore(recordsDatabase(folder));
    const { id } = await store.ensureAccount(account, Date.now());
    await store.addToken({ account: id, name: "test", hash: hashSecret(secret), scope, created: Date.now() });
    store.close();
    return secret;
  }

  async function call(method: string, path: string, sent: Sent = {}) {
    const secret = sent.token ?? token;
    const answer = await request(`${service.url}${path}`, {
      dispatcher: agent,
      method,
      headers: { ...(secret === "" ? {} : { "auth-api-token": secret }), ...sent.headers },
      ...(sent.body !== undefined && { body: sent.body }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    const json = isJson && text !== "" ? JSON.parse(text) : undefined;
    return { status: answer.statusCode, headers: answer.headers, text, json };
  }

  /** Sends raw bytes on a separate connection; returns the answer up to `enough` or the end. */
  async function send(bytes: string, enough: (got: string) => boolean): Promise<string> {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), ca: await readFile(service.caFile ?? "", "utf8") });
    let got = "";
    socket.write(bytes);
    for await (const piece of socket) {
      got += String(piece);
      if (enough(got)) break;
    }
    return got;
  }

  const post = (path: string, body: unknown, sent: Sent = {}) =>
    call("POST", path, { ...sent, body: JSON.stringify(body) });
  const put = (path: string, body: unknown, sent: Sent = {}) =>
    call("PUT", path, { ...sent, body: JSON.stringify(body) });

  let zones = 0;
  async function newZone(): Promise<{ id: string; name: string }> {
    zones += 1;
    const { status, json } = await post("/api/v1/zones", { name: `z${zones}.example`, ttl: 600 });
    expect(status).toBe(200);
    return json.zone;
  }
  async function newRecord(zoneId: string, fields: Record<string, unknown>) {
    const { status, json } = await post("/api/v1/records", {
      zone_id: zoneId,
      type: "A",
      name: "www",
      value: "192.0.2.1",
      ...fields,
    });
    expect(status).toBe(200);
    return json.record;
  }

  return { call, send, post, put, newZone, newRecord, newToken, token: () => token };
}
