import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { wholeAccount } from "../../../core/may.ts";
import { createLog } from "../../../process/log.ts";
import { type RunningRecords, startRecords } from "../../start.ts";

let folder: string;
let service: RunningRecords;
let ca: string;
const secret = createToken();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-headers-"));
  service = await startRecords({
    dataFolder: folder,
    names: ["dns.example.org"],
    nameservers: ["ns1.example.net"] as const,
    listen: { host: "127.0.0.1", port: 0 },
    log: createLog({ format: "text", level: "silent", write: () => undefined }),
  });
  const { id: account } = await service.store.ensureAccount("main", 0);
  await service.store.addToken({ account, name: "t", hash: hashSecret(secret), scope: wholeAccount, created: 0 });
  ca = await readFile(service.caFile ?? "", "utf8");
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

function ask(method: string, path: string, host = "localhost", token = secret) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status?: number;
    headers: NodeJS.Dict<string | string[]>;
  }>();
  const headers = { host, authorization: `Bearer ${token}`, "auth-api-token": token };
  const asked = request(
    new URL(path, service.url),
    { method, headers, ca, servername: "localhost", agent: false },
    (answer) => {
      resolve({ ...(answer.statusCode && { status: answer.statusCode }), headers: answer.headers });
      answer.destroy();
    },
  );
  asked.once("error", reject).end();
  return promise;
}

describe("answers", () => {
  it.each([
    ["GET", "/v1/zones", 200],
    ["POST", "/v1/zones", 422],
    ["PATCH", "/v1/zones", 405],
    ["GET", "/v1/nothing", 404],
    ["GET", "/v1/%zz", 404],
    ["GET", "/v1/events", 200],
    // As in the original: an account without zones has no list.
    ["GET", "/api/v1/zones", 404],
    ["GET", "/api/v1/nothing", 404],
    ["GET", "/api/v1/%zz", 404],
    ["GET", "/nic/update", 401],
    ["GET", "/console/session", 401],
    ["GET", "/console/ca.pem", 200],
    ["GET", "/health/ready", 200],
    ["GET", "/nothing", 404],
  ])("to %s %s must not be cached", async (method, path, status) => {
    const answer = await ask(method, path);
    expect([answer.status, answer.headers["cache-control"]]).toEqual([status, expect.stringMatching(/^no-store\b/)]);
  });

  it("to an invalid token must not be cached", async () => {
    for (const path of ["/v1/zones", "/api/v1/zones"])
      expect(await ask("GET", path, "localhost", "wrong")).toMatchObject({
        status: 401,
        headers: { "cache-control": "no-store" },
      });
  });

  it.each([
    ["dns.example.org", "max-age=604800"],
    ["localhost:8053", undefined],
    ["127.0.0.1:8053", undefined],
  ])("at the host %s have this Strict-Transport-Security header: %s", async (host, header) => {
    for (const path of ["/v1/zones", "/console/session", "/nothing"])
      expect((await ask("GET", path, host)).headers["strict-transport-security"]).toBe(header);
  });
});
