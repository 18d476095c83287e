import { beforeAll, describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, newSet, newToken, newZone, store, token, url } = rrsetsService();

const hex32 = /^[0-9a-f]{32}$/;

describe("transport, auth, common rules", () => {
  it("Auth: Bearer and a token of 64 or 32 characters; read-only and read-write kinds", async () => {
    expect(token()).toHaveLength(64);
    expect((await call("GET", "/zones")).status).toBe(200);
    const short = await newToken("main", { access: "read" }, 32);
    expect((await call("GET", "/zones", undefined, { token: short })).status).toBe(200);
    expect(
      (await call("GET", "/zones", undefined, { token: "", headers: { authorization: `bearer ${short}` } })).status,
    ).toBe(200);
    const refused = await call("POST", "/zones", { name: "x.example", mode: "primary" }, { token: short });
    expect([refused.status, refused.error.code]).toEqual([401, "token_readonly"]);
  });

  it("Auth: the header of the older API is accepted (lexicon sends it), but Authorization takes precedence", async () => {
    const older = (secret: string, more = {}) =>
      call("GET", "/zones", undefined, { token: "", headers: { "auth-api-token": secret, ...more } });
    expect((await older(token())).status).toBe(200);
    expect((await older("x".repeat(64))).status).toBe(401);
    expect((await older("")).status).toBe(401);
    expect((await older(token(), { authorization: `Bearer ${"x".repeat(64)}` })).status).toBe(401);
  });

  it.each([
    ["no header", undefined],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["no token", "Bearer "],
    ["an unknown token", `Bearer ${"x".repeat(64)}`],
  ])("Auth: %s is 401, and the answer carries no rate-limit and no correlation headers", async (_, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await call("GET", "/zones", undefined, { token: "", headers });
    expect(answer.status).toBe(401);
    const message = "the token you have provided is invalid";
    expect(answer.json).toEqual({ error: { code: "unauthorized", message, details: null } });
    expect(answer.headers).not.toHaveProperty("x-correlation-id");
    expect(answer.headers).not.toHaveProperty("ratelimit-limit");
  });

  it("Auth: a revoked token is unknown immediately", async () => {
    const secret = await newToken("revoked");
    expect((await call("GET", "/zones", undefined, { token: secret })).status).toBe(200);
    const mine = (await store().tokens()).find((each) => each.accountName === "revoked");
    await store().revokeToken(mine?.id ?? 0, Date.now());
    expect((await call("GET", "/zones", undefined, { token: secret })).status).toBe(401);
  });

  it("Request body: JSON whatever its content type; `{}` on GET and DELETE is ignored", async () => {
    const { path } = await newSet();
    expect((await call("GET", path, {})).status).toBe(200);
    const headers = { "content-type": "text/plain" };
    const body = { records: [{ value: "192.0.2.9" }] };
    expect((await call("POST", `${path}/actions/set_records`, body, { headers })).status).toBe(201);
    expect((await call("DELETE", path, undefined, { text: "parameters" })).status).toBe(201);
  });

  it("Response: the content type starts with application/json, also for errors", async () => {
    for (const [method, path] of [
      ["GET", "/zones"],
      ["GET", "/zones/none"],
      ["GET", "/nowhere"],
      ["PATCH", "/zones"],
    ] as const) {
      expect((await call(method, path)).headers["content-type"]).toMatch(/^application\/json/);
    }
    expect((await call("GET", "/zones", undefined, { token: "bad" })).headers["content-type"]).toMatch(
      /^application\/json/,
    );
  });

  it("Array query parameters: repeated, never comma lists", async () => {
    const { zone } = await newSet();
    const types = async (query: string) =>
      (await call("GET", `/zones/${zone.id}/rrsets?${query}`)).json.rrsets?.map((set: { type: string }) => set.type);
    expect(await types("type=A&type=SOA")).toEqual(["A", "SOA"]);
    expect(await types("type=A")).toEqual(["A"]);
    expect(await types("type=A,SOA")).toBeUndefined();
  });

  it("Timestamps: RFC 3339, UTC, whole seconds, Z", async () => {
    expect((await newZone()).created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it("Integer ids: from 1, and fit a JS number", async () => {
    const { zone, path } = await newSet();
    const { json } = await call("POST", `${path}/actions/change_ttl`, { ttl: 60 });
    for (const id of [zone.id, json.action.id]) expect(Number.isSafeInteger(id) && id >= 1).toBe(true);
  });

  it("X-Correlation-Id: 32 lower-case hex digits, different for each answer, also on errors", async () => {
    const ids = await Promise.all(["/zones", "/zones/none"].map(async (path) => (await call("GET", path)).headers));
    expect(ids[0]?.["x-correlation-id"]).toMatch(hex32);
    expect(ids[1]?.["x-correlation-id"]).toMatch(hex32);
    expect(ids[0]?.["x-correlation-id"]).not.toBe(ids[1]?.["x-correlation-id"]);
  });

  it("Other headers seen: those for browsers, and a preflight that needs no token", async () => {
    const { headers } = await call("GET", "/zones");
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["access-control-expose-headers"]).toBe("Link,X-Correlation-ID");
    expect(headers.vary).toBe("Accept-Encoding");
    const preflight = await call("OPTIONS", "/zones/x/rrsets", undefined, { token: "" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-methods"]).toBe("OPTIONS,GET,POST,PUT,PATCH,DELETE");
    expect(preflight.headers["access-control-allow-headers"]).toMatch(/^X-Requested-With,Authorization,Content-Type/);
    expect(preflight.headers["access-control-max-age"]).toBe("86400");
  });

  it("Path segments: @ and * raw or as percent escapes", async () => {
    const zone = await newZone();
    const records = [{ value: '"x"' }];
    for (const name of ["@", "*"]) await call("POST", `/zones/${zone.name}/rrsets`, { name, type: "TXT", records });
    for (const name of ["@", "%40", "*", "%2A", "%2a"]) {
      expect((await call("GET", `/zones/${zone.name}/rrsets/${name}/TXT`)).status).toBe(200);
    }
  });

  it("HEAD: the status and headers of GET, also for read-only tokens (hetzner_ddns tests its token this way)", async () => {
    const { zone, path } = await newSet();
    const readOnly = await newToken("main", { access: "read" });
    for (const at of ["/zones", `/zones/${zone.name}`, `/zones/${zone.name}/rrsets`, path, "/zones/none.example"]) {
      const get = await call("GET", at);
      const head = await call("HEAD", at, undefined, { token: readOnly });
      expect([at, head.status, head.text]).toEqual([at, get.status, ""]);
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    }
    expect((await call("HEAD", "/zones", undefined, { token: "x".repeat(64) })).status).toBe(401);
    expect((await call("HEAD", `${path}/actions/set_records`)).status).toBe(405);
    expect((await call("HEAD", "/events")).status).toBe(405);
  });

  it("Wrong method: 405 method_not_allowed; PATCH on a record set is 404", async () => {
    const { zone, path } = await newSet();
    for (const [method, wrong, allow] of [
      ["PATCH", "/zones", "GET, HEAD, POST"],
      ["DELETE", "/zones", "GET, HEAD, POST"],
      ["POST", `/zones/${zone.id}`, "GET, HEAD, PUT, DELETE"],
      ["GET", `${path}/actions/set_records`, "POST"],
      ["PUT", "/actions/1", "GET, HEAD"],
      ["POST", path, "GET, HEAD, PUT, DELETE"],
    ] as const) {
      const { status, error, headers } = await call(method, wrong);
      expect([status, error.code, error.details]).toEqual([405, "method_not_allowed", null]);
      // RFC 9110 section 15.5.6.
      expect([wrong, headers.allow]).toEqual([wrong, allow]);
    }
    expect((await call("PATCH", path, {})).status).toBe(404);
  });
});

describe("rate limiting", () => {
  it("RateLimit-Limit, -Remaining and -Reset, the last in UNIX seconds", async () => {
    const { headers } = await call("GET", "/zones");
    expect(headers["ratelimit-limit"]).toBe("1000");
    expect(Number(headers["ratelimit-remaining"])).toBeLessThanOrEqual(1000);
    expect(Math.abs(Number(headers["ratelimit-reset"]) - Date.now() / 1000)).toBeLessThan(120);
  });
});

describe("the OpenAPI document", () => {
  type OpenApi = { readonly paths: Readonly<Record<string, object>>; readonly components: object };
  let document: OpenApi;
  beforeAll(async () => {
    document = (await (await fetch(`${url()}/docs/json`)).json()) as OpenApi;
  });

  it("covers both APIs, each with its way to send a token", () => {
    const { paths, components } = document;
    expect(paths["/api/v1/zones"]).toHaveProperty("get");
    expect(components).toMatchObject({ securitySchemes: { bearer: { type: "http", scheme: "bearer" } } });
    const schema = { properties: { records: { maxItems: 50 } } };
    expect(paths["/v1/zones/{z}/rrsets/{n}/{t}/actions/set_records"]).toMatchObject({
      post: { security: [{ bearer: [] }], requestBody: { content: { "application/json": { schema } } } },
    });
  });

  it("has every path of the API, and none twice", () => {
    const mine = Object.entries<object>(document.paths).filter(([path]) => path.startsWith("/v1/"));
    const operations = mine.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    // 27 of the original, plus upsert, changes, history, undo, events and the preview of an import, three for grants,
    // nine for DNSSEC, and 14 for providers.
    expect(operations).toHaveLength(27 + 32);
  });
});
