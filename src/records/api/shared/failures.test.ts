import { afterEach, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";

/** A failed request can be found in the log by the id that its caller received. */

let service: Awaited<ReturnType<typeof remoteCallers>>;
afterEach(() => service.close());

const broken = () => Promise.reject(new Error("the table is gone"));

it.each([
  ["v1", "/api/v1/zones", "x-request-id"],
  ["rrsets", "/v1/zones", "x-correlation-id"],
  ["dyndns2", "/nic/update?hostname=home.example.org&myip=192.0.2.1", "x-request-id"],
])("%s: the same id in header, body and log, and no reason outside", async (_, path, header) => {
  service = await remoteCallers(100, { zones: broken, zoneHolding: broken, zoneBy: broken });
  const secret = await service.newToken();
  const authorization = path.startsWith("/nic") ? `Basic ${btoa(`x:${secret}`)}` : `Bearer ${secret}`;
  const answer = await service.call(path, { "auth-api-token": secret, authorization }, "203.0.113.1");
  expect(answer.statusCode).toBe(500);
  const id = String(answer.headers[header]);
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(answer.body).toContain(id);
  expect(answer.body).not.toContain("table");
  const line = JSON.parse(service.log()) as Record<string, unknown>;
  expect(line).toMatchObject({ msg: "a request failed", request: id, err: { message: "the table is gone" } });
  expect(service.log()).not.toContain(secret);
});
