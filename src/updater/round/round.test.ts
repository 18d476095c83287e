import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { firstRecords, goodFirewall, type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { type Asked, type Reply, wanWith } from "../../../test/rig/updater/services.ts";
import { summarise } from "../report/describe-round.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
});
afterEach(() => loop.close());

const both = { A: "9.9.9.9", AAAA: "2a00::9" };

describe("when all is well", () => {
  it("writes both records once, and stores what it wrote", async () => {
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(loop.writes().map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/api/v1/records/r4", { value: "9.9.9.9", ttl: 77, type: "A", name: "home", zone_id: "z1" }],
      ["/api/v1/records/r6", { value: "2a00::9", type: "AAAA", name: "home", zone_id: "z1" }],
    ]);
    expect(loop.stored()).toEqual(both);
    expect(statSync(loop.config.stateFile).mode & 0o777).toBe(0o600);
  });

  it("sends what the APIs require and nothing that they reject", async () => {
    await loop.round();
    const [read] = loop.firewall.asked;
    expect(read?.path).toBe("/api/diagnostics/interface/getinterfaceconfig");
    expect(read?.headers.authorization).toBe(`Basic ${btoa("thekey:thesecret")}`);
    expect(read?.headers).not.toHaveProperty("content-type");
    expect(loop.writes()[0]?.headers).toMatchObject({ "content-type": "application/json", "auth-api-token": "t0ken" });
    expect(loop.writes()[0]?.body).not.toMatch(/[:,] /);
  });

  it("sends nothing to the record service while the address stays the same, even after a restart", async () => {
    await loop.round();
    const before = loop.service.asked.length;
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    await loop.reopen();
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    expect(loop.service.asked.length).toBe(before);
    expect(loop.firewall.asked.length).toBe(3);
  });

  it("writes one family when only that one changed", async () => {
    await loop.round();
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::9"]) } });
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(loop.writes().length).toBe(3);
    expect(loop.stored()).toEqual({ ...both, A: "9.9.9.10" });
  });

  it("keeps a ttl that was changed in the console meanwhile", async () => {
    await loop.round();
    const record = loop.records.find(({ id }) => id === "r4");
    if (record) record.ttl = 300;
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::9"]) } });
    await loop.round();
    expect(JSON.parse(loop.writes().at(-1)?.body ?? "{}")).toMatchObject({ value: "9.9.9.10", ttl: 300 });
  });

  it("writes again after a kill between the write and the state", async () => {
    await loop.round();
    writeFileSync(loop.config.stateFile, JSON.stringify({ version: 1, entries: {} }));
    await loop.reopen();
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(loop.records.find(({ id }) => id === "r4")?.value).toBe("9.9.9.9");
  });

  it("plans without sending or storing", async () => {
    const planned = await loop.updater.plan(new AbortController().signal);
    expect(planned.map(({ plan }) => plan.kind)).toEqual(["replace", "replace"]);
    expect(loop.service.asked).toEqual([]);
    expect(loop.stored()).toEqual({});
  });
});

const hostileFirewalls: [string, () => Reply, RegExp][] = [
  ["a connection that is reset", () => ({ fault: "reset" }), /closed the connection unexpectedly/],
  ["401", () => ({ status: 401, body: { status: 401, message: "Authentication Failed" } }), /key and its secret/],
  ["403", () => ({ status: 403, body: { status: 403, message: "Forbidden" } }), /may not read/],
  ["302 to its login page", () => ({ status: 302, headers: { location: "/?url=x" } }), /a redirect/],
  ["404", () => ({ status: 404, body: { errorMessage: "Endpoint not found" } }), /has no interface status call/],
  ["500", () => ({ status: 500, body: { errorMessage: "Unexpected error" } }), /answered 500/],
  ["201 with a good body", () => ({ ...goodFirewall(), status: 201 }), /answered 201/],
  ["a web page", () => ({ body: "<!doctype html><p>Login" }), /web page/],
  ["an empty body", () => ({ body: "" }), /empty body/],
  ["text", () => ({ body: "Service unavailable" }), /not JSON/],
  ["[]", () => ({ body: [] }), /no interface wan0/],
  ["a list with something in it", () => ({ body: [1] }), /not a list of interfaces/],
  ["null", () => ({ body: "null" }), /not a list of interfaces/],
  ["an interface that is text", () => ({ body: { wan0: "up" } }), /wan0 is not an object/],
  ["ipv4 as an object", () => ({ body: { wan0: { ipv4: {}, ipv6: [] } } }), /wan0\.ipv4 is not a list/],
  ["a number for an address", () => ({ body: { wan0: { ipv4: [{ ipaddr: 1 }], ipv6: [] } } }), /ipv4\[0\]\.ipaddr/],
  [
    "a text for link-local",
    () => ({ body: { wan0: { ipv4: [], ipv6: [{ ipaddr: "2a00::1", "link-local": "false" }] } } }),
    /link-local is neither/,
  ],
  ["half an answer", () => ({ ...goodFirewall(), fault: "truncate" }), /sent only part of its answer/],
  ["no such interface", () => ({ body: { wan1: wanWith(["9.9.9.9"], []) } }), /its interfaces are wan1/],
];

describe("a bad answer of the firewall changes nothing", () => {
  test.each(hostileFirewalls)("%s", async (_, reply, reason) => {
    await loop.round();
    const before = loop.service.asked.length;
    loop.says.firewall = reply;
    const { results } = await loop.updater.round(new AbortController().signal);
    for (const { plan, trouble } of results) {
      expect(plan).toEqual({ kind: "nothing", because: "unknown" });
      expect(`${trouble?.because}; ${trouble?.todo}`).toMatch(reason);
    }
    expect(loop.service.asked.length).toBe(before);
    expect(loop.stored()).toEqual(both);
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::10"]) } });
    loop.clock.now += 300_000;
    expect(await loop.round()).toEqual(["done", "done"]);
  });
});

it("of hundreds of interfaces or addresses, only the first are listed, with the number of the others", async () => {
  const many = Array.from({ length: 200 }, (_, at) => `fe80::${at + 1}`);
  const reasonFor = async (body: Record<string, unknown>) => {
    loop.says.firewall = () => ({ body });
    const { results } = await loop.updater.round(new AbortController().signal);
    return results.map((result) => summarise(result, true)).map(({ because, todo }) => `${because}; ${todo}`)[1];
  };
  const addresses = await reasonFor({ wan0: wanWith([], many) });
  expect(addresses).toMatch(/: fe80::1 is link-local, .*, fe80::30 is \S+ and 170 more;/);
  const devices = Object.fromEntries(many.map((name) => [name, {}]));
  expect(await reasonFor(devices)).toMatch(/its interfaces are fe80::1, .*, fe80::30 and 170 more$/);
});

const unfit: [string, Record<string, unknown>, string[]][] = [
  ["only link-local IPv6", wanWith(["9.9.9.9"], ["fe80::1"]), ["nothing", "none"]],
  ["link-local without its flag", { ipv4: [], ipv6: [{ ipaddr: "fe80::1", "link-local": false }] }, ["none", "none"]],
  ["no address at all, as during a reconnect", wanWith([], []), ["none", "none"]],
  ["0.0.0.0", wanWith(["0.0.0.0"], []), ["none", "none"]],
  ["loopback", wanWith(["127.0.0.1"], ["::1"]), ["none", "none"]],
  ["multicast", wanWith(["224.0.0.1"], ["ff02::1"]), ["none", "none"]],
  ["garbage", wanWith(["9.9.9"], ["2a00::1::2"]), ["none", "none"]],
  ["an empty text", wanWith([""], [""]), ["none", "none"]],
  ["families mixed up", wanWith(["2a00::1"], ["9.9.9.9"]), ["none", "none"]],
];

describe("an unusable address is never published", () => {
  test.each(unfit)("%s", async (_, wan0, kinds) => {
    await loop.round();
    const before = loop.service.asked.length;
    loop.says.firewall = () => ({ body: { wan0 } });
    expect(await loop.round()).toEqual(kinds);
    expect(loop.service.asked.length).toBe(before);
    expect(loop.stored()).toEqual(both);
  });
});

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
const put = (reply: Reply) => (asked: Asked) => (asked.method === "PUT" ? reply : undefined);

const hostileServices: [string, (asked: Asked) => Reply | undefined, string][] = [
  ["every connection is reset", () => ({ fault: "reset" }), "later"],
  ["401", () => ({ status: 401, body: { message: "Invalid authentication credentials" } }), "unauthorised"],
  ["403", put({ status: 403, body: { message: "Forbidden" } }), "unauthorised"],
  [
    "404 for the zone",
    () => ({ status: 404, body: { zones: [], error: { message: "zone not found", code: 404 } } }),
    "missing",
  ],
  ["404 for the record", put({ status: 404, body: { error: { message: "record not found", code: 404 } } }), "missing"],
  ["409", put({ status: 409, body: { error: { message: "conflict", code: 409 } } }), "later"],
  ["422", put({ status: 422, body: { record: {}, error: { message: "invalid A record", code: 422 } } }), "refused"],
  ["422 that means 409", put({ status: 422, body: { error: { message: "409 Conflict: ", code: 422 } } }), "later"],
  ["400 with only a text", put({ status: 400, body: { error: "json not valid" } }), "refused"],
  ["429 in seconds", put({ status: 429, headers: { "retry-after": "60" }, body: { message: "slow down" } }), "later"],
  ["429 with a date", put({ status: 429, headers: { "retry-after": inSeconds(60) }, body: {} }), "later"],
  ["500", put({ status: 500, body: "oops" }), "later"],
  ["502", () => ({ status: 502, body: "<html>bad gateway" }), "later"],
  ["301 to its successor", () => ({ status: 301, headers: { location: "https://example.net/" } }), "refused"],
  ["200 and a web page", () => ({ body: "<html>" }), "later"],
  ["200 and an empty body", put({ body: "" }), "later"],
  ["200 with an error inside", put({ body: { record: {}, error: { message: "internal", code: 500 } } }), "later"],
  ["200 and the old record", put({ body: { record: firstRecords()[1] } }), "later"],
  ["half an answer", () => ({ body: { zones: [{ id: "z1", name: "example.org" }] }, fault: "truncate" }), "later"],
];

describe("a record service that rejects a write: nothing is stored, and the next good round recovers", () => {
  test.each(hostileServices)("%s", async (_, service, kind) => {
    loop.says.service = service;
    const { results } = await loop.updater.round(new AbortController().signal);
    expect(results[0]?.outcome).toMatchObject({ fault: { kind } });
    expect(loop.stored()).toEqual({});
    for (const { body } of loop.writes()) expect(["9.9.9.9", "2a00::9"]).toContain(JSON.parse(body).value);
    loop.says.service = () => undefined;
    loop.clock.now += 300_000;
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(loop.stored()).toEqual(both);
  });

  it("finds a zone however the service spells its name", async () => {
    const zones = [{ id: "z1", name: "Example.ORG." }];
    loop.says.service = ({ path }) => (path.startsWith("/api/v1/zones") ? { body: { zones } } : undefined);
    expect(await loop.round()).toEqual(["done", "done"]);
  });

  it("reports the message of the service", async () => {
    loop.says.service = put({ status: 422, body: { error: { message: "ungültig:\n \u001b[31m A", code: 422 } } });
    const { results } = await loop.updater.round(new AbortController().signal);
    const fault = { because: "the record service refused: 422: ungültig: \\u{1b}[31m A" };
    expect(results[0]?.outcome).toMatchObject({ fault });
  });

  it("reports what the record held, whatever the service sends for it", async () => {
    const { results } = await loop.updater.round(new AbortController().signal);
    const reasons = results.map(
      (result) => summarise({ ...result, contentBefore: { values: ["\u001b[2J"], ttl: null } }, true).because,
    );
    expect(reasons[0]).toContain("the record held \\u{1b}[2J");
  });
});

describe("the updater", () => {
  it.each([
    ["seconds", () => "60"],
    ["a date", () => new Date(loop.clock.now + 60_000).toUTCString()],
  ])("respects Retry-After, in %s, even after a restart", async (_, header) => {
    loop.says.service = put({ status: 429, headers: { "retry-after": header() }, body: {} });
    expect(await loop.round()).toEqual(["failed", "waiting"]);
    const before = loop.service.asked.length;
    loop.says.service = () => undefined;
    await loop.reopen();
    loop.clock.now += 50_000;
    expect(await loop.round()).toEqual(["waiting", "waiting"]);
    expect(loop.service.asked.length).toBe(before);
    loop.clock.now += 11_000;
    expect(await loop.round()).toEqual(["done", "done"]);
  });

  it("does not let one family's failure delay the other", async () => {
    loop.says.service = ({ method, path }) => (method === "PUT" && path.endsWith("r4") ? { status: 500 } : undefined);
    expect(await loop.round()).toEqual(["failed", "done"]);
    expect(loop.stored()).toEqual({ AAAA: "2a00::9" });
  });

  it("finds a record that was deleted and created again", async () => {
    await loop.round();
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { id: "r4b" });
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::9"]) } });
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(loop.writes().at(-1)?.path).toBe("/api/v1/records/r4b");
  });

  it.each([
    ["when another has it", [{ id: "r4b", type: "A", name: "home", value: "192.0.2.1", zone_id: "z1" }], "done"],
    ["when none has it", [], "failed"],
  ])("does not write to a record that has lost its name, %s", async (_, others, kind) => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, compare: record, ipv4: wan0 }");
    expect(await loop.round()).toEqual(["done"]);
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { name: "old" });
    loop.records.push(...others);
    expect(await loop.round()).toEqual([kind]);
  });

  it("refuses to guess between two records of one name and type", async () => {
    loop.records.push({ id: "r4b", type: "A", name: "home.example.org.", value: "192.0.2.2", zone_id: "z1" });
    const { results } = await loop.updater.round(new AbortController().signal);
    const fault = { kind: "ambiguous", todo: expect.stringContaining("r4, r4b") };
    expect(results[0]?.outcome).toMatchObject({ fault });
    expect(results[1]?.outcome?.kind).toBe("done");
  });

  it("stops immediately when the signal aborts", async () => {
    loop.says.service = () => ({ body: { zones: [] }, fault: "hang" });
    const stop = new AbortController();
    const round = loop.updater.round(stop.signal);
    await until(() => loop.service.asked.length > 0);
    stop.abort();
    const { results } = await round;
    expect(results[0]?.outcome).toMatchObject({ fault: { because: "stopped before it finished" } });
    expect(loop.stored()).toEqual({});
  });
});

describe("back-off", () => {
  const openWithBackOff = async () => {
    await loop.close();
    loop = await openLoop(undefined, () => 0.5);
  };

  it("pauses after a failure of the firewall, with no known address meanwhile", async () => {
    await openWithBackOff();
    loop.says.firewall = () => ({ status: 500 });
    expect(await loop.round()).toEqual(["failed", "failed"]);
    loop.says.firewall = goodFirewall;
    loop.clock.now += 1_999;
    expect(await loop.round()).toEqual(["failed", "failed"]);
    expect(loop.firewall.asked.length).toBe(1);
    loop.clock.now += 1;
    expect(await loop.round()).toEqual(["done", "done"]);
  });

  it("reads the firewall within the interval, however long it was away", async () => {
    await loop.close();
    loop = await openLoop(undefined, () => 0.999);
    loop.says.firewall = () => ({ status: 500 });
    for (let tries = 1; tries <= 12; tries++) {
      expect(await loop.round()).toEqual(["failed", "failed"]);
      expect(loop.firewall.asked.length).toBe(tries);
      loop.clock.now += loop.config.interval;
    }
    loop.says.firewall = goodFirewall;
    expect(await loop.round()).toEqual(["done", "done"]);
  });

  it("does not wait longer than asked when the clock is set back", async () => {
    loop.says.service = ({ method }) =>
      method === "PUT" ? { status: 429, headers: { "retry-after": "600" } } : undefined;
    expect(await loop.round()).toEqual(["failed", "waiting"]);
    loop.says.service = () => undefined;
    loop.clock.now -= 1_000;
    expect(await loop.round()).toEqual(["waiting", "waiting"]);
    loop.clock.now -= 12 * 3_600_000;
    expect(await loop.round()).toEqual(["done", "done"]);
  });

  it("pauses for a failing record, and no other", async () => {
    await openWithBackOff();
    loop.says.service = ({ method, path }) => (method === "PUT" && path.endsWith("r4") ? { status: 500 } : undefined);
    expect(await loop.round()).toEqual(["failed", "done"]);
    loop.says.service = () => undefined;
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.9"], ["2a00::10"]) } });
    expect(await loop.round()).toEqual(["waiting", "done"]);
    loop.clock.now += 2_000;
    expect(await loop.round()).toEqual(["done", "nothing"]);
  });
});

describe("records named by id", () => {
  it.each([
    ["the right one", "r4", undefined],
    ["one of another type", "r6", "refused"],
    ["one that is not there", "nope", "missing"],
  ])("%s", async (_, id, kind) => {
    await loop.close();
    loop = await openLoop(`  - { name: home, zone: example.org, ttl: 60, ipv4: { interface: wan0, record: ${id} } }`);
    const { results } = await loop.updater.round(new AbortController().signal);
    expect(results[0]?.outcome).toMatchObject(kind ? { fault: { kind } } : { kind: "done" });
    expect(loop.writes().map(({ body }) => JSON.parse(body).ttl)).toEqual(kind ? [] : [60]);
  });

  it("a record with another name is refused every time, even if it has the address", async () => {
    await loop.close();
    const record = "{ interface: wan0, record: r4 }";
    loop = await openLoop(`  - { name: other, zone: example.org, compare: record, ipv4: ${record} }`);
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "9.9.9.9" });
    expect([await loop.round(), await loop.round()]).toEqual([["failed"], ["failed"]]);
  });
});

it("an interface that is up but has no link is reported as down or without a link", async () => {
  await loop.close();
  loop = await openLoop("  - { name: home, zone: example.org, ipv4: [wan0, wan1] }");
  const unplugged = { ...wanWith(["9.9.9.8"], []), flags: ["up"], status: "no carrier" };
  loop.says.firewall = () => ({ body: { wan0: unplugged, wan1: wanWith(["9.9.9.9"], []) } });
  const { results } = await loop.updater.round(new AbortController().signal);
  expect(results.map((result) => summarise(result, true).because)[0]).toMatch(
    /^it is the address of wan1 \(wan0 is down or has no link\)/,
  );
});

describe("many names on one firewall", () => {
  it("reads the firewall once per round", async () => {
    await loop.close();
    loop = await openLoop(
      ["a", "b", "c"].map((name) => `  - { name: ${name}, zone: example.org, ipv4: wan0, ipv6: wan0 }`).join("\n"),
    );
    const { results } = await loop.updater.round(new AbortController().signal);
    expect(loop.firewall.asked.length).toBe(1);
    const none = { kind: "refused", fault: { kind: "missing" } };
    expect(results.map(({ outcome }) => outcome)).toMatchObject(Array(6).fill(none));
  });
});

it("writes no secret into the state file", async () => {
  await loop.round();
  expect(readFileSync(loop.config.stateFile, "utf8")).not.toMatch(/t0ken|thekey|thesecret/);
});

it("lists the addresses of each of several interfaces, and why they are not used", async () => {
  await loop.close();
  loop = await openLoop("  - { name: home, zone: example.org, ipv4: [wan0, wan1] }", undefined, {
    settings: "public: require",
  });
  loop.says.firewall = () => ({ body: { wan0: wanWith(["100.64.0.1"], []), wan1: wanWith(["192.168.1.2"], []) } });
  const [result] = (await loop.updater.round(new AbortController().signal)).results;
  expect(result && summarise(result, true).because).toBe(
    "none of wan0, wan1 can be used; wan0 has no usable address: 100.64.0.1 is a carrier-grade NAT address, but only public ones " +
      "are allowed; wan1 has no usable address: 192.168.1.2 is private, but only public ones are allowed",
  );
});

it("soon retries to store what could not be written to disk, even without news from the firewall", async () => {
  mkdirSync(loop.config.stateFile);
  const round = () => loop.updater.round(new AbortController().signal);
  const dues = [(await round()).due, (await round()).due];
  expect(dues).toEqual([loop.clock.now + loop.config.interval, loop.clock.now + loop.config.interval]);
  rmSync(loop.config.stateFile, { recursive: true });
  expect((await round()).due).toBeUndefined();
  expect(loop.stored()).toEqual(both);
});
