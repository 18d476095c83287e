import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { parseNetwork } from "../../../core/addresses/network.ts";
import type { ParentFault } from "../../../core/dnssec/parent-view.ts";
import { wholeAccount } from "../../../core/may.ts";
import { RequestCounters } from "../../../lib/http/server.ts";
import { createLog } from "../../../process/log.ts";
import { signingKeyFile } from "../../open-store.ts";
import { printRecordMetrics } from "../../print-metrics.ts";
import { type RecordsOptions, type RunningRecords, startRecords } from "../../start.ts";

const from = (text: string) => ({
  networks: [parseNetwork(text)].flatMap((network) => network ?? []),
  header: "x-forwarded-for" as const,
});

describe("the record service, monitored", () => {
  let folder: string;
  let service: RunningRecords;
  let lines: string[];
  afterEach(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const start = async (options: Partial<RecordsOptions> = {}) => {
    folder = await mkdtemp(join(tmpdir(), "moor-observed-"));
    lines = [];
    const log = createLog({ format: "json", write: (line) => lines.push(line) });
    service = await startRecords({
      dataFolder: folder,
      names: [],
      nameservers: ["ns1.example.net"],
      plainHttp: true,
      counted: true,
      log,
      listen: { host: "127.0.0.1", port: 0 },
      ...options,
    });
    const account = await service.store.ensureAccount("main", 1);
    const secret = createToken();
    await service.store.addToken({
      account: account.id,
      name: "home",
      hash: hashSecret(secret),
      created: 1,
      scope: { ...wholeAccount, networks: ["203.0.113.0/24", "127.0.0.1/32"] },
    });
    return secret;
  };
  const call = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${service.url}${path}`, { ...init, headers });
  const addProvider = async (secret: string, name = "first") => {
    // The service is its own provider.
    const body = JSON.stringify({ name, kind: "hetzner", url: service.url, token: secret });
    const answer = await call("/v1/providers", { authorization: `Bearer ${secret}` }, { method: "POST", body });
    return [answer.status, await answer.text()];
  };
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

  it("counts calls by route and status, writes, refusals and the log", async () => {
    const secret = await start({ callsPerMinute: { caller: 2, account: 0 }, proxies: from("127.0.0.1") });
    const outside = { "auth-api-token": secret, "x-forwarded-for": "203.0.113.5" };
    for (let i = 0; i < 3; i++) await call("/api/v1/zones/secret-zone-id", outside);
    const zone = { name: "customer.example", mode: "primary" };
    const authorization = `Bearer ${secret}`;
    const made = await call("/v1/zones", { authorization }, { method: "POST", body: JSON.stringify(zone) });
    expect(made.status).toBe(201);
    const text = await service.metrics();
    const value = (sample: string) =>
      text
        .split("\n")
        .find((line) => line.startsWith(`${sample} `))
        ?.split(" ")[1];
    const route = 'method="GET",route="/api/v1/zones/:id"';
    expect(value(`moor_http_requests_total{${route},status="404"}`)).toBe("2");
    expect(value(`moor_http_requests_total{${route},status="429"}`)).toBe("1");
    expect(value(`moor_http_request_seconds_count{${route}}`)).toBe("3");
    expect(value('moor_http_rate_limited_total{api="v1"}')).toBe("1");
    expect(value('moor_http_rate_limited_total{api="rrsets"}')).toBe("0");
    expect(Number(value("moor_store_writes_total"))).toBeGreaterThan(2);
    expect(value("moor_store_waiting_writes")).toBe("0");
    expect(value("moor_store_commit_seconds_count")).toBe(value("moor_store_commits_total"));
    expect(Number(value("moor_log_position"))).toBeGreaterThan(0);
    expect(value("moor_event_streams")).toBe("0");
    for (const never of ["secret-zone-id", "customer.example", secret, "203.0.113.5"])
      expect(text).not.toContain(never);
  });

  it("still reports its metrics while the database does not answer", async () => {
    await start();
    const { counters } = service.store;
    const requests = new RequestCounters();
    const away = { counters, lastChange: () => Promise.reject(new Error("away")) };
    const text = await printRecordMetrics({
      requests,
      store: away,
      streams: { open: 0 },
      now: () => 1_000,
      signing: {
        zones: 3,
        changedInFuture: new Set<string>(),
        parentFaults: new Map<string, ParentFault>([
          ["customer.example", { kind: "wrong-ds", text: "" }],
          ["another.example", { kind: "no-ds", text: "" }],
          ["third.example", { kind: "unverified", text: "" }],
        ]),
        expiring: new Map([["customer.example", 61_000]]),
      },
    });
    expect(text).toContain("\nmoor_store_writes_total ");
    expect(text).not.toMatch(/^moor_log_position/m);
    for (const [metric, value] of [
      ["moor_signed_zones", 3],
      ["moor_signatures_expire_seconds", 60],
      ["moor_ds_mismatches", 1],
      ["moor_ds_missing", 1],
      ['moor_parent_faults{kind="unverified"}', 1],
      ['moor_parent_faults{kind="differs"}', 0],
      ["moor_signing_clock_wrong", 0],
    ])
      expect(text).toContain(`\n${metric} ${value}\n`);
    expect(text).not.toContain("customer.example");
  });

  it.each([
    ["none could be late", [], 21 * 86_400],
    ["one expires in 60 seconds", [3_600_000, 61_000], 60],
    ["one expired a second ago and was not renewed", [61_000, 0], -1],
  ])("says when signatures expire: %s", async (_, expiring, seconds) => {
    await start();
    const { counters, lastChange } = service.store;
    const text = await printRecordMetrics({
      requests: new RequestCounters(),
      store: { counters, lastChange },
      streams: { open: 0 },
      now: () => 1_000,
      signing: {
        zones: 3,
        changedInFuture: new Set<string>(),
        parentFaults: new Map<string, ParentFault>(),
        expiring: new Map(expiring.map((at, i) => [`${i}.example`, at])),
      },
    });
    expect(text).toContain(`\nmoor_signatures_expire_seconds ${seconds}\n`);
  });

  it("counts the readers of the stream of changes while they read", async () => {
    const secret = await start();
    const reader = new AbortController();
    const stream = await call("/v1/events", { authorization: `Bearer ${secret}` }, { signal: reader.signal });
    expect(stream.status).toBe(200);
    await expect.poll(() => service.metrics()).toContain("\nmoor_event_streams 1\n");
    reader.abort();
    await expect.poll(() => service.metrics()).toContain("\nmoor_event_streams 0\n");
  });

  it("without the key file, refuses to change or sign a zone with the reason, and shows it in its health", async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "moor-keyless-"));
    const post = (secret: string, path: string, body: object) =>
      call(
        `/v1/zones${path}`,
        { authorization: `Bearer ${secret}` },
        { method: "POST", body: JSON.stringify({ mode: "primary", ...body }) },
      );
    const first = await start({ dataFolder });
    for (const name of ["signed.example", "plain.example"]) await post(first, "", { name });
    expect((await post(first, "/signed.example/actions/sign", {})).status).toBe(201);
    expect(await service.health.readiness()).toMatchObject({ ready: true, parts: { keys: { ok: true } } });
    await service.close();
    await rm(folder, { recursive: true });
    await rm(signingKeyFile(dataFolder));

    const second = await start({ dataFolder });
    const set = { name: "www", type: "A", records: [{ value: "192.0.2.1" }] };
    for (const [path, body] of [
      ["/signed.example/rrsets", set],
      ["/plain.example/actions/sign", {}],
      ["/signed.example/actions/unsign", {}],
    ] as const) {
      const answer = await post(second, path, body);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { error: { code: "unavailable", message: expect.stringMatching(/key is missing.*restore/), details: null } },
      ]);
    }
    const v1 = await call("/api/v1/zones", { "auth-api-token": second });
    const { zones } = (await v1.json()) as { zones: readonly { id: string; name: string }[] };
    const { id: zone_id } = zones.find(({ name }) => name === "signed.example") ?? {};
    const body = JSON.stringify({ zone_id, name: "www", type: "A", value: "192.0.2.1" });
    const record = await call("/api/v1/records", { "auth-api-token": second }, { method: "POST", body });
    expect([record.status, await record.text()]).toEqual([503, expect.stringContaining("key is missing")]);
    expect(await addProvider(second)).toEqual([503, expect.stringContaining("key is missing")]);
    expect((await post(second, "/plain.example/rrsets", set)).status).toBe(201);
    const because = expect.stringMatching(/key is missing.*restore/);
    expect(await service.health.readiness()).toMatchObject({ ready: true, parts: { keys: { ok: false, because } } });
    expect(lines.join()).not.toContain('"a request failed"');
    await rm(dataFolder, { recursive: true });
  });

  it("without the key file that encrypted a provider's token, makes no other one", async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "moor-keyless-"));
    expect(await addProvider(await start({ dataFolder }))).toEqual([201, expect.anything()]);
    await service.close();
    await rm(folder, { recursive: true });
    await rm(signingKeyFile(dataFolder));
    const secret = await start({ dataFolder });
    expect(await addProvider(secret, "second")).toEqual([503, expect.stringContaining("key is missing")]);
    expect(await service.health.readiness()).toMatchObject({ ready: true, parts: { keys: { ok: false } } });
    await rm(dataFolder, { recursive: true });
  });

  it("without the access log does not log a successful request", async () => {
    const secret = await start();
    await call("/v1/zones", { authorization: `Bearer ${secret}` });
    expect(lines).toEqual([]);
  });

  it.each([
    ["invalid JSON", "/api/v1/zones", "{hidden", "/api/v1/zones", 400],
    ["too long a body", "/api/v1/records", `"hidden${"x".repeat(2 ** 20)}"`, "/api/v1/records", 413],
    ["a bad value", "/api/v1/zones", '{"name":"hidden zone"}', "/api/v1/zones", 422],
    ["a bad record in a bulk request", "/api/v1/records/bulk", '{"records":["hidden"]}', "/api/v1/records/bulk", 422],
    ["a bad zone file", "/api/v1/zones/file/validate", "hidden A 1", "/api/v1/zones/file/validate", 422],
    ["invalid JSON", "/v1/zones", "{hidden", "/v1/zones", 400],
    ["a bad value", "/v1/zones", '{"name":"hidden zone","mode":"primary"}', "/v1/zones", 422],
    ["a bad name in the path", "/v1/zones/hidden/rrsets", '{"records":[]}', "/v1/zones/:z/rrsets", 422],
  ])("logs that %s was refused at %s, without what was sent", async (_, path, body, route, status) => {
    const secret = await start();
    const headers = { "auth-api-token": secret, authorization: `Bearer ${secret}` };
    expect((await call(path, headers, { method: "POST", body })).status).toBe(status);
    expect(logged()).toMatchObject([
      { level: "info", msg: "a request was refused", from: "127.0.0.1", method: "POST", route, status },
    ]);
    expect(logged()[0]).toMatchObject({ actor: "token 1 (home)", request: expect.stringMatching(/\w/) });
    expect(lines.join("")).not.toContain("hidden");
  });

  it("with the access log logs each request, without secrets", async () => {
    const secret = await start({ accessLog: true, proxies: from("127.0.0.1") });
    const basic = Buffer.from(`router:${secret}`).toString("base64");
    const link = (await service.createSignInLink("main")).split("#")[1] ?? "";
    const own = { origin: service.url.replace("http:", "https:"), "content-type": "application/json" };
    await call("/v1/zones?token=query-secret", {
      authorization: `Bearer ${secret}`,
      "x-forwarded-for": "203.0.113.5",
      "x-request-id": "trace-7",
    });
    await call(`/api/v1/zones?auth=${secret}`, { "auth-api-token": secret });
    await call(`/nic/update?hostname=a.example.org&password=${secret}`, { authorization: `Basic ${basic}` });
    const password = { name: "main", password: "body-secret" };
    await call("/console/sign-in", own, { method: "POST", body: JSON.stringify(password) });
    const entered = await call("/console/sign-in-link", own, { method: "POST", body: JSON.stringify({ link }) });
    const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
    await call("/console/session", { cookie });
    await expect.poll(() => logged().filter(({ msg }) => msg === "request").length).toBe(6);
    const [first] = logged();
    expect(first).toMatchObject({
      request: "trace-7",
      from: "203.0.113.5",
      method: "GET",
      path: "/v1/zones",
      route: "/v1/zones",
      status: 200,
      actor: "token 1 (home)",
      ms: expect.any(Number),
    });
    const refused = logged().filter(({ request }) => request === logged().find(isRefusal)?.request);
    expect(refused.map(({ msg }) => msg)).toEqual(["console: sign-in refused", "request"]);
    const text = lines.join("");
    for (const never of [secret, basic, link, "query-secret", "body-secret", cookie.split("=")[1] ?? "?"]) {
      expect(text).not.toContain(never);
    }
  });

  it("takes the caller's address from a trusted proxy, for tokens that are valid only from certain networks", async () => {
    const secret = await start({ proxies: from("127.0.0.1") });
    const headers = (client: string) => ({ authorization: `Bearer ${secret}`, "x-forwarded-for": client });
    expect((await call("/v1/zones", headers("203.0.113.5"))).status).toBe(200);
    expect((await call("/v1/zones", headers("198.51.100.5"))).status).toBe(401);
    expect((await call("/v1/zones", headers("203.0.113.5, 198.51.100.5"))).status).toBe(401);
    const page = await call("/v1/zones", { ...headers("203.0.113.5"), "x-forwarded-proto": "https" });
    expect(page.headers.get("link")).toContain("<https://");
  });

  it("ignores the headers of a proxy that is not trusted", async () => {
    const secret = await start({ proxies: from("10.0.0.0/8") });
    const headers = { authorization: `Bearer ${secret}`, "x-forwarded-for": "198.51.100.5", "x-request-id": "forged" };
    const answer = await call("/v1/zones", headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-correlation-id")).toMatch(/^[0-9a-f]{32}$/);
  });

  it("tells anyone whether it is ready, without reasons, and is not ready as soon as it stops", async () => {
    await start();
    expect(await (await call("/health/live")).json()).toEqual({ live: true });
    const ready = await call("/health/ready");
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { ready: true, parts: { store: { ok: true }, keys: { ok: true }, running: { ok: true } } },
    ]);
    service.health.add("followers", () => "database at db.internal is away");
    const waiting = await call("/health/ready");
    const body = await waiting.text();
    expect(waiting.status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({ ready: false, parts: { followers: { ok: false }, store: { ok: true } } });
    expect(body).not.toContain("db.internal");
    service.health.stop();
    expect(JSON.parse(await (await call("/health/ready")).text())).toMatchObject({ parts: { running: { ok: false } } });
    expect((await call("/health/live")).status).toBe(200);
  });

  it("also tells a balancer that asks with HEAD whether it is ready", async () => {
    await start();
    const head = async (path: string) => (await call(path, {}, { method: "HEAD" })).status;
    expect([await head("/health/live"), await head("/health/ready")]).toEqual([200, 200]);
    service.health.stop();
    expect([await head("/health/live"), await head("/health/ready")]).toEqual([200, 503]);
  });

  it("is ready only with a valid certificate", async () => {
    await start({ plainHttp: false });
    expect((await service.health.readiness()).parts.certificate).toEqual({ ok: true });
  });
});

const isRefusal = ({ msg }: Record<string, unknown>): boolean => msg === "console: sign-in refused";
