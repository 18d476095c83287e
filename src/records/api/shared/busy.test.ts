import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";
import { asStoreBusy } from "../../../lib/sqlite/faults.ts";

/** What `node:sqlite` throws if the disk is full. */
const full = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
const fails = async () => {
  throw asStoreBusy(full);
};

let rig: Awaited<ReturnType<typeof remoteCallers>>;
let token: string;
beforeAll(async () => {
  rig = await remoteCallers(1_000, { zones: fails, zoneBy: fails });
  token = await rig.newToken();
});
afterAll(() => rig.close());

describe("a busy store: each API says so in its own format, and when to retry", () => {
  it("v1", async () => {
    const answer = await rig.call("/api/v1/zones", { "auth-api-token": token }, "192.0.2.1");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "10"]);
    expect(answer.json()).toEqual({ error: { message: "the disk of the service is full", code: 503 } });
  });

  it("record sets", async () => {
    const answer = await rig.call("/v1/zones", { authorization: `Bearer ${token}` }, "192.0.2.1");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "10"]);
    const message = "the disk of the service is full";
    expect(answer.json()).toEqual({ error: { code: "unavailable", message, details: null } });
  });

  it("dyndns2", async () => {
    const authorization = `Basic ${Buffer.from(`x:${token}`).toString("base64")}`;
    const answer = await rig.call("/nic/update?hostname=a.example.org", { authorization }, "192.0.2.1");
    expect([answer.statusCode, answer.body, answer.headers["retry-after"]]).toEqual([
      503,
      "911 the service is busy: the disk of the service is full; try again in 10 seconds\n",
      "10",
    ]);
  });

  it("and the log says why, once per request", () => {
    expect(rig.log().match(/database or disk is full/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ["/api/v1/zones", () => ({ "auth-api-token": token })],
    ["/v1/zones", () => ({ authorization: `Bearer ${token}` })],
    ["/nic/update?hostname=a.example.org", () => ({ authorization: `Basic ${btoa(`x:${token}`)}` })],
  ])("and the log says so at most sixty times a minute for %s, and then how many more", async (path, headers) => {
    rig.pass(60_000);
    const before = rig.log().length;
    for (let i = 0; i < 100; i++) await rig.call(path, headers(), "192.0.2.1");
    rig.pass(60_000);
    await rig.call(path, headers(), "192.0.2.1");
    const said = rig.log().slice(before);
    expect(said.match(/"a request failed because the store is busy"/g)).toHaveLength(61);
    expect(said).toMatch(/"count":40,.*"more requests failed because the store was busy"/);
  });
});

it.each([1, 19, undefined])("other errors of SQLite do not count as busy: %s", (errcode) => {
  const error = Object.assign(new Error("x"), { errcode });
  expect(asStoreBusy(error)).toBe(error);
});
