import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect } from "vitest";
import { createToken, hashSecret } from "../../../src/access/secret.ts";
import { type Scope, wholeAccount } from "../../../src/core/may.ts";
import { createLog } from "../../../src/process/log.ts";
import { type RecordsOptions, type RunningRecords, startRecords } from "../../../src/records/start.ts";

export type Sent = {
  readonly body?: unknown;
  /** A raw body, instead of JSON. */
  readonly text?: string;
  readonly headers?: Record<string, string>;
  /** Instead of the default token; empty for none. */
  readonly token?: string;
};

// oxlint-disable-next-line typescript/no-explicit-any -- tests inspect answers that the service has no types for
type Json = any;

/** A record service on its own port, started and stopped with the test file, and a client of its record-set API. */
export function rrsetsService(options: Pick<RecordsOptions, "hostmaster" | "allowedPrimaries" | "recordLimits"> = {}) {
  let service: RunningRecords;
  let agent: Agent;
  let token: string;
  let zones = 0;

  beforeAll(async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "moor-rrsets-"));
    const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
    const listen = { host: "127.0.0.1", port: 0 };
    const nameservers = ["ns1.example.net", "ns3.example.net", "ns2.example.net"] as const;
    const usual = {
      dataFolder,
      listen,
      names: ["api.service.test"],
      nameservers,
      log,
      plainHttp: true,
      callsPerMinute: { caller: 1000, account: 10_000 },
    };
    service = await startRecords({ ...usual, ...options });
    agent = new Agent();
    token = await newToken("main");
  });
  afterAll(async () => {
    await agent.close();
    await service.close();
  });

  async function newToken(account: string, scope: Scope = wholeAccount, length = 64): Promise<string> {
    const secret = createToken(length);
    const { id } = await service.store.ensureAccount(account, Date.now());
    await service.store.addToken({ account: id, name: "test", hash: hashSecret(secret), scope, created: Date.now() });
    return secret;
  }

  async function send(method: string, path: string, sent: Sent, headers: Record<string, string>) {
    const body = sent.text ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const answer = await request(`${service.url}${path}`, {
      dispatcher: agent,
      method,
      headers: { ...headers, ...sent.headers },
      ...(body !== undefined && { body }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    const json: Json = isJson && text !== "" ? JSON.parse(text) : undefined;
    return { status: answer.statusCode, headers: answer.headers, text, json, error: json?.error };
  }

  /** A path below `/v1`. */
  const call = (method: string, path: string, body?: unknown, sent: Sent = {}) => {
    const secret = sent.token ?? token;
    const headers: Record<string, string> = secret === "" ? {} : { authorization: `Bearer ${secret}` };
    return send(method, `/v1${path}`, { ...sent, body }, headers);
  };
  /** A path below `/api/v1`, with the same token unless another is given. */
  const callV1 = (method: string, path: string, body?: unknown, sent: Sent = {}) =>
    send(method, `/api/v1${path}`, { ...sent, body }, { "auth-api-token": sent.token ?? token });

  const get = async (path: string): Promise<Json> => {
    const { status, json } = await call("GET", path);
    expect(status).toBe(200);
    return json;
  };

  async function newZone(fields: Record<string, unknown> = {}): Promise<Json> {
    zones += 1;
    const { status, json } = await call("POST", "/zones", { name: `r${zones}.example`, mode: "primary", ...fields });
    expect(status).toBe(201);
    return json.zone;
  }

  /** A zone with one set, and the path of that set. */
  async function newSet(type = "A", values: readonly string[] = ["192.0.2.1"], fields: Record<string, unknown> = {}) {
    const zone = await newZone();
    const records = values.map((value) => ({ value }));
    const { status, json } = await call("POST", `/zones/${zone.name}/rrsets`, {
      name: "www",
      type,
      records,
      ...fields,
    });
    expect([status, json.error]).toEqual([201, undefined]);
    const path = `/zones/${zone.name}/rrsets/www/${type}`;
    const valuesNow = async (): Promise<readonly string[]> =>
      (await get(path)).rrset.records.map((record: { value: string }) => record.value);
    return { zone, path, values: valuesNow };
  }

  return {
    call,
    callV1,
    get,
    newZone,
    newSet,
    newToken,
    token: () => token,
    url: () => service.url,
    store: () => service.store,
  };
}
