import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, send, newRecord, newZone, token } = v1Service();

describe("transport", () => {
  it("headers: content type, CORS and Vary, also on errors", async () => {
    const zone = await newZone();
    for (const path of [`/api/v1/zones/${zone.id}`, "/api/v1/zones/none"]) {
      const { headers, text } = await call("GET", path);
      expect(headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "access-control-allow-origin": "*",
        vary: "Origin",
        "content-length": String(Buffer.byteLength(text)),
      });
      expect(text.endsWith("}\n")).toBe(true);
    }
  });

  it("a browser's preflight needs no token: pages use this API too", async () => {
    const asked = { origin: "https://page.example", "access-control-request-headers": "auth-api-token" };
    const { status, text, headers } = await call("OPTIONS", "/api/v1/records/x", { token: "", headers: asked });
    expect([status, text, headers["access-control-allow-origin"]]).toEqual([204, "", "*"]);
    expect(headers["access-control-allow-methods"]).toBe("OPTIONS,GET,POST,PUT,DELETE");
    expect(headers["access-control-allow-headers"]).toBe("X-Requested-With,Auth-API-Token,Content-Type");
  });

  it("pipelined requests on one connection are done in order", async () => {
    const zone = await newZone();
    const { id } = await newRecord(zone.id, {});
    const head = (line: string) => `${line} HTTP/1.1\r\nHost: localhost\r\nAuth-API-Token: ${token()}\r\n`;
    const read = `${head(`GET /api/v1/records/${id}`)}\r\n`;
    const values = Array.from({ length: 10 }, (_, i) => `192.0.2.${i + 100}`);
    const writes = values.map((value) => {
      const body = JSON.stringify({ zone_id: zone.id, type: "A", name: "www", value });
      return `${head(`PUT /api/v1/records/${id}`)}Content-Length: ${body.length}\r\n\r\n${body}${read}`;
    });
    const valuesIn = (got: string) => [...got.matchAll(/"value":"(.*?)"/g)].map((each) => each[1]);
    const got = await send(writes.join(""), (text) => valuesIn(text).length === 2 * values.length);
    expect(valuesIn(got)).toEqual(values.flatMap((value) => [value, value]));
  });

  it("two Host headers are a 400", async () => {
    const got = await send("GET /api/v1/zones HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", () => false);
    expect(got).toMatch(/^HTTP\/1\.1 400 .*more than one Host header\n$/s);
  });

  it("HEAD is GET without the body", async () => {
    const zone = await newZone();
    const { status, text, headers } = await call("HEAD", `/api/v1/zones/${zone.id}`);
    expect([status, text, headers["content-type"]]).toEqual([200, "", "application/json; charset=utf-8"]);
    expect((await call("HEAD", "/api/v1/zones", { token: "bad" })).status).toBe(401);
  });

  it("an unknown route is a 404 in plain text", async () => {
    for (const path of [
      "/api/v1/nope",
      "/api/v1",
      "/nope",
      "/api/v2/zones",
      "/api/v1/zones/%ff",
      `/api/v1/records/${"x".repeat(400)}`,
    ]) {
      const { status, text, headers } = await call("GET", path);
      expect([status, text, headers["content-type"]]).toEqual([404, "404 page not found", "text/plain; charset=utf-8"]);
    }
  });

  it.each([["{"], [""], ["[1,"], ["\u0000"], ["{'a':1}"], ['{"a":1}x']])(
    "malformed JSON is a 400 whose error is a string: %j",
    async (body) => {
      const answer = await call("POST", "/api/v1/records", { body, headers: { "content-type": "application/json" } });
      expect([answer.status, answer.text]).toEqual([400, '{"error":"json not valid"}\n']);
    },
  );

  it("a doubled slash in a path is ignored: a Perl client sends one before every id", async () => {
    const zone = await newZone();
    const { id, ...record } = await newRecord(zone.id, {});
    const body = JSON.stringify({ ...record, value: "192.0.2.9" });
    const asked = [
      ["GET", `/api/v1/zones//${zone.id}`],
      ["GET", `/api/v1/zones//${zone.id}/export`],
      ["GET", `/api/v1/records//${id}`],
      ["PUT", `/api/v1/records//${id}`, { body }],
      ["DELETE", `/api/v1/records//${id}`],
    ] as const;
    for (const [method, path, sent] of asked)
      expect([path, (await call(method, path, sent)).status]).toEqual([path, 200]);
    expect((await call("GET", `/api/v1/zones//${zone.id}`, { token: "bad" })).status).toBe(401);
  });

  it("an empty X-Consumer-Username and any Accept are ignored", async () => {
    const zone = await newZone();
    for (const accept of ["application/json", "*/*", "text/html", "nonsense"]) {
      const headers = { "x-consumer-username": "", accept };
      expect((await call("GET", `/api/v1/zones/${zone.id}`, { headers })).status).toBe(200);
    }
  });

  it("the description is an OpenAPI document with all 20 calls and dyndns2", async () => {
    const { json } = await call("GET", "/docs/json", { token: "" });
    const calls = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const v1 = calls.filter((each) => each.includes(" /api/v1/")).map((each) => each.replace("/api/v1", ""));
    expect(v1.sort()).toEqual(
      [
        "GET /zones",
        "POST /zones",
        "GET /zones/{id}",
        "PUT /zones/{id}",
        "DELETE /zones/{id}",
        "POST /zones/{id}/import",
        "GET /zones/{id}/export",
        "POST /zones/file/validate",
        "GET /records",
        "POST /records",
        "GET /records/{id}",
        "PUT /records/{id}",
        "DELETE /records/{id}",
        "POST /records/bulk",
        "PUT /records/bulk",
        "GET /primary_servers",
        "POST /primary_servers",
        "GET /primary_servers/{id}",
        "PUT /primary_servers/{id}",
        "DELETE /primary_servers/{id}",
      ].sort(),
    );
    expect(calls).toEqual(expect.arrayContaining(["GET /nic/update", "GET /update", "GET /v3/update"]));
  });

  it("the description documents the answer while the database is down, and the maximum page size", async () => {
    const { json } = await call("GET", "/docs/json", { token: "" });
    const perPage = (path: string) =>
      json.paths[path].get.parameters.find(({ name }: { name: string }) => name === "per_page").schema.maximum;
    expect(json.paths["/api/v1/records/{id}"].put.responses[503].description).toMatch(/Retry-After/);
    expect([perPage("/api/v1/zones"), perPage("/api/v1/records")]).toEqual([100, 10_000]);
  });
});
