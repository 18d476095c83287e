import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { type Asked, type Reply, wanWith } from "../../../test/rig/updater/services.ts";

/**
 * A write with an unknown outcome leaves the stored address in doubt: the record may hold the old or the new address.
 */

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
  await loop.round();
});
afterEach(() => loop.close());

const atHome = (ipv4: string) => () => ({ body: { wan0: wanWith([ipv4], ["2a00::9"]) } });
const answered = (reply: Reply) => {
  loop.says.service = ({ method, path }) => (method === "PUT" && path.endsWith("r4") ? reply : undefined);
};
const goodAgain = () => {
  loop.says.service = () => undefined;
  loop.clock.now += 300_000;
};
const written = () => loop.writes().map(({ body }) => (JSON.parse(body) as { value: string }).value);

it("a correction by compare leaves nothing in doubt, also not of names that were right", async () => {
  await loop.close();
  const hosts = ["a", "b", "c"];
  loop = await openLoop(
    hosts.map((name) => `  - { name: ${name}, zone: example.org, compare: record, ipv4: wan0 }`).join("\n"),
  );
  for (const name of hosts) loop.records.push({ id: name, type: "A", name, value: "192.0.2.1", zone_id: "z1" });
  await loop.round();
  for (const wrong of hosts) {
    for (const record of loop.records) if (record.id === wrong) record.value = "192.0.2.66";
    expect((await loop.round()).filter((kind) => kind === "done")).toHaveLength(1);
    const { entries } = JSON.parse(readFileSync(loop.config.stateFile, "utf8"));
    expect(Object.values(entries as object).map((each) => [each.address, each.inDoubt])).toEqual(
      hosts.map(() => ["9.9.9.9", undefined]),
    );
  }
});

describe("an address that goes back to the stored one", () => {
  it.each([
    ["the answer was lost", { fault: "reset" } as const, false],
    ["the service failed", { status: 500 }, false],
    ["the service failed, and we were restarted", { status: 500 }, true],
  ])("is written again when %s", async (_, reply, restart) => {
    loop.says.firewall = atHome("9.9.9.10");
    answered(reply);
    expect(await loop.round()).toEqual(["failed", "nothing"]);
    if (restart) await loop.reopen();
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(written().at(-1)).toBe("9.9.9.9");
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
  });

  it.each<[string, Reply]>([
    ["201", { status: 201, body: {} }],
    ["202", { status: 202 }],
    ["204", { status: 204 }],
    ["302", { status: 302, headers: { location: "/login" } }],
    ["404 from a proxy", { status: 404, body: "<html>" }],
    ["408", { status: 408, body: { error: { message: "late", code: 408 } } }],
    ["422 from a proxy", { status: 422, body: "<html>" }],
    ["425", { status: 425, body: { message: "early" } }],
    ["499", { status: 499 }],
  ])("is written again when the write of the other address was carried out and answered with %s", async (_, reply) => {
    loop.says.firewall = atHome("9.9.9.10");
    const record = loop.records.find(({ id }) => id === "r4");
    loop.says.service = ({ method, path, body }) => {
      if (method !== "PUT" || !path.endsWith("r4")) return undefined;
      Object.assign(record ?? {}, JSON.parse(body));
      return reply;
    };
    await loop.round();
    expect(record?.value).toBe("9.9.9.10");
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect([record?.value, loop.stored().A]).toEqual(["9.9.9.9", "9.9.9.9"]);
  });

  it("is not written again when the service refused the other address", async () => {
    loop.says.firewall = atHome("9.9.9.10");
    answered({ status: 422, body: { record: {}, error: { message: "no", code: 422 } } });
    expect(await loop.round()).toEqual(["failed", "nothing"]);
    const before = loop.writes().length;
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    expect(loop.writes().length).toBe(before);
  });
});

describe("an address in doubt that is found in the record", () => {
  it("is no longer in doubt: holdDown applies to the next address again", async () => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, compare: record, holdDown: 1m, ipv4: wan0 }");
    await loop.round();
    loop.says.firewall = atHome("9.9.9.10");
    expect(await loop.round()).toEqual(["waiting"]);
    loop.clock.now += 60_000;
    answered({ status: 500 });
    expect(await loop.round()).toEqual(["failed"]);
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["nothing"]);
    loop.says.firewall = atHome("9.9.9.11");
    expect(await loop.round()).toEqual(["waiting"]);
  });
});

/** A set is written in several calls: if a later one is refused, the address may have been written. */
describe("an address that goes back to the stored one, in a record set", () => {
  const no = { error: { code: "invalid_input", message: "no", details: null } };
  const running = { action: { id: 5001, status: "running", error: null } };

  it.each<[string, (asked: Asked) => Reply | undefined]>([
    ["the TTL was refused", ({ path }) => (path.endsWith("/change_ttl") ? { status: 422, body: no } : undefined)],
    [
      "the token was revoked before it was read back",
      ({ method }) => (method === "GET" ? { status: 401, body: no } : undefined),
    ],
    [
      "the action could not be read",
      ({ path }) =>
        path.includes("/actions/") ? { status: path.endsWith("5001") ? 403 : 201, body: running } : undefined,
    ],
    ...[202, 204, 303, 408].map((status): [string, (asked: Asked) => Reply | undefined] => [
      `it was carried out and answered with ${status}`,
      ({ path, body }) => {
        const record = loop.records.find(({ id }) => id === "r4");
        if (!path.endsWith("/set_records")) return undefined;
        if (record) record.value = (JSON.parse(body) as { records: { value: string }[] }).records[0]?.value ?? "";
        return { status };
      },
    ]),
  ])("is written again when %s", async (_, reply) => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, ttl: 60, ipv4: wan0 }", () => 0, { api: "rrsets" });
    expect(await loop.round()).toEqual(["done"]);
    const record = loop.records.find(({ id }) => id === "r4");
    if (record) record.ttl = 77;
    loop.says.firewall = atHome("9.9.9.10");
    loop.says.service = reply;
    await loop.round();
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["done"]);
    expect(loop.records.find(({ name, type }) => name === "home" && type === "A")?.value).toBe("9.9.9.9");
  });
});
