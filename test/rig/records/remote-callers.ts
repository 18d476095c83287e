import { createToken, hashSecret } from "../../../src/access/secret.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { type Scope, wholeAccount } from "../../../src/core/may.ts";
import { createHttpServer } from "../../../src/lib/http/server.ts";
import { createRateLimit } from "../../../src/lib/limits/rate-limit.ts";
import { createLog } from "../../../src/process/log.ts";
import { dyndnsApi } from "../../../src/records/api/dyndns/dyndns.ts";
import { rrsetsApi } from "../../../src/records/api/rrsets/routes.ts";
import { acmeChallengeApi } from "../../../src/records/api/shared/acme-challenge.ts";
import { v1Api } from "../../../src/records/api/v1/routes.ts";
import { createRecordService } from "../../../src/records/service.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { openSqliteStore } from "../../../src/records/store/sqlite/store.ts";

const apis = ["v1", "rrsets", "dyndns", "acme"] as const;

/**
 * The APIs without a socket, called from any address at any time; `faults` replace parts of the store. `only`: a test
 * that calls one API spends most of its time on the routes of the others.
 */
export async function remoteCallers(
  perMinute: number,
  faults: Partial<RecordStore> = {},
  only: readonly (typeof apis)[number][] = apis,
) {
  const store: RecordStore = { ...openSqliteStore(":memory:"), ...faults };
  let time = Date.UTC(2026, 10, 15);
  const now = (): Instant => time;
  const lines: string[] = [];
  const log = createLog({ format: "json", write: (line) => lines.push(line) });
  const service = createRecordService({ store, now, nameservers: ["ns1.example.net"] });
  const shared = {
    service,
    store,
    now,
    log,
    limits: { caller: createRateLimit(perMinute), account: createRateLimit(10 * perMinute) },
  };
  const server = createHttpServer({ bodyLimit: 1024 * 1024 });
  if (only.includes("v1")) await server.register(v1Api(shared), { prefix: "/api/v1" });
  if (only.includes("rrsets")) await server.register(rrsetsApi(shared), { prefix: "/v1" });
  if (only.includes("dyndns")) await server.register(dyndnsApi(shared));
  if (only.includes("acme")) await server.register(acmeChallengeApi(shared));
  await server.ready();

  const newToken = async (scope: Scope = wholeAccount): Promise<string> => {
    const { id } = await store.ensureAccount("main", now());
    const secret = createToken();
    await store.addToken({ account: id, name: "test", hash: hashSecret(secret), scope, created: now() });
    return secret;
  };

  return {
    store,
    service,
    newToken,
    log: () => lines.join(""),
    pass: (milliseconds: number): void => {
      time += milliseconds;
    },
    call: async (url: string, headers: Record<string, string>, from: string, method: "GET" | "HEAD" = "GET") =>
      await server.inject({ method, url, headers, remoteAddress: from }),
    post: async (url: string, headers: Record<string, string>, from: string, payload?: string) =>
      await server.inject({ method: "POST", url, headers, remoteAddress: from, ...(payload && { payload }) }),
    close: async (): Promise<void> => {
      await server.close();
      await store.close();
    },
  };
}
