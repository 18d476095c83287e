import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";

describe("rate limits", () => {
  let rig: Awaited<ReturnType<typeof remoteCallers>>;
  let token: string;
  beforeEach(async () => {
    rig = await remoteCallers(60, {}, ["v1"]);
    token = await rig.newToken();
  });
  afterEach(() => rig.close());

  const get = (from: string, secret = token) => rig.call("/api/v1/zones", { "auth-api-token": secret }, from);
  const quota = (headers: Readonly<Record<string, unknown>>) =>
    [
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
      "x-ratelimit-limit-minute",
      "x-ratelimit-remaining-minute",
    ].map((name) => headers[name]);

  it("headers are on every answer, the reset in seconds from now", async () => {
    const answer = await get("192.0.2.7");
    expect(answer.statusCode).toBe(404);
    expect(quota(answer.headers)).toEqual(["60", "59", "1", "60", "59"]);
    for (let i = 0; i < 30; i += 1) await get("192.0.2.7");
    expect(quota((await get("192.0.2.7")).headers)).toEqual(["60", "28", "32", "60", "28"]);
  });

  it("429 has an integer Retry-After and the gateway's shape", async () => {
    for (let i = 0; i < 60; i += 1) expect((await get("192.0.2.7")).statusCode).toBe(404);
    const answer = await get("192.0.2.7");
    expect([answer.statusCode, answer.body]).toEqual([429, '{"message":"API rate limit exceeded"}\n']);
    expect(answer.headers["retry-after"]).toBe("1");
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    rig.pass(1000);
    expect((await get("192.0.2.7")).statusCode).toBe(404);
  });

  it("is counted per token, wherever it is used from", async () => {
    for (let i = 0; i < 60; i += 1) await get(`192.0.2.${i}`);
    expect((await get("2001:db8::1")).statusCode).toBe(429);
    expect((await get("2001:db8::1", await rig.newToken())).statusCode).toBe(404);
  });

  it("is off for callers on this machine", async () => {
    for (let i = 0; i < 100; i += 1) expect((await get("127.0.0.1")).statusCode).toBe(404);
    expect(quota((await get("::1")).headers)).toEqual(["60", "60", "0", "60", "60"]);
  });

  it("does not count calls without a valid token", async () => {
    for (let i = 0; i < 100; i += 1) expect((await get("192.0.2.7", "x".repeat(32))).statusCode).toBe(401);
    expect((await get("192.0.2.7")).headers["ratelimit-remaining"]).toBe("59");
  });
});
