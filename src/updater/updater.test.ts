import { afterEach, expect, it } from "vitest";
import { type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { wanWith } from "../../test/rig/updater/services.ts";
import { openStateFile } from "./round/state-file.ts";
import { openUpdater } from "./updater.ts";

let loop: Loop;
afterEach(() => loop.close());
const { signal } = new AbortController();

it("ignores a stored hold that is longer than any service may ask for", async () => {
  loop = await openLoop();
  loop.says.service = ({ method }) =>
    method === "PUT" ? { status: 429, headers: { "retry-after": "600" }, body: {} } : undefined;
  expect(await loop.round()).toEqual(["failed", "waiting"]);
  loop.says.service = () => undefined;
  loop.clock.now -= 48 * 3_600_000;
  await loop.reopen();
  expect(await loop.round()).toEqual(["done", "done"]);
});

it.each([
  ["without Retry-After", {}],
  ["with a Retry-After of 0", { "retry-after": "0" }],
])("pauses for a service that answers 429 %s: no other name asks meanwhile", async (_, headers) => {
  loop = await openLoop();
  loop.says.service = ({ method }) => (method === "PUT" ? { status: 429, headers, body: {} } : undefined);
  expect(await loop.round()).toEqual(["failed", "waiting"]);
  loop.says.service = () => undefined;
  loop.clock.now += 9_000;
  expect(await loop.round()).toEqual(["waiting", "waiting"]);
  loop.clock.now += 1_001;
  expect(await loop.round()).toEqual(["done", "done"]);
});

it("retries a name immediately if its service did not answer, but then answered for another name", async () => {
  loop = await openLoop(undefined, () => 0.9);
  loop.says.service = () => ({ fault: "reset" });
  for (let tries = 0; tries < 8; tries++) {
    expect(await loop.round()).toEqual(["failed", "failed"]);
    loop.clock.now += 300_000;
  }
  loop.says.service = ({ path, method }) => (method === "PUT" && path.endsWith("r4") ? { fault: "reset" } : undefined);
  expect(await loop.round()).toEqual(["failed", "done"]);
  loop.says.service = () => undefined;
  expect(await loop.round()).toEqual(["done", "nothing"]);
});

it("is due immediately for a name that waits to retry its service, if that answered for another name", async () => {
  loop = await openLoop(undefined, () => 0.9);
  loop.says.service = () => ({ fault: "reset" });
  await loop.round();
  loop.says.service = ({ path, method }) => (method === "PUT" && path.endsWith("r6") ? { fault: "reset" } : undefined);
  loop.clock.now += 3_700;
  expect(await loop.round()).toEqual(["done", "failed"]);
  loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::9"]) } });
  const { results, due = 0 } = await loop.updater.round(signal);
  expect(results.map(({ plan }) => plan.kind)).toEqual(["replace", "wait"]);
  expect(due).toBeLessThanOrEqual(loop.clock.now);
  loop.says.service = () => undefined;
  expect(await loop.round()).toEqual(["nothing", "done"]);
});

it("does not retry a name whose service did not answer while it answers only with errors for others", async () => {
  loop = await openLoop(undefined, () => 0.9);
  loop.says.service = ({ path, method }) => {
    if (method !== "PUT") return undefined;
    return path.endsWith("r4") ? { fault: "reset" } : { status: 503, body: {} };
  };
  expect(await loop.round()).toEqual(["failed", "failed"]);
  expect(await loop.round()).toEqual(["waiting", "waiting"]);
});

it("says why it cannot read the rest of a list, and respects a Retry-After there too", async () => {
  loop = await openLoop();
  loop.says.service = ({ path }) => {
    if (path.includes("page=2")) return { status: 429, headers: { "retry-after": "60" }, body: {} };
    return path.startsWith("/api/v1/records?")
      ? { body: { records: [], meta: { pagination: { page: 1, last_page: 2 } } } }
      : undefined;
  };
  const { results } = await loop.updater.round(signal);
  expect(results[0]?.outcome).toMatchObject({
    fault: { because: "the record service answered 429", retryAfter: 60_000 },
  });
  expect(results[1]?.plan.kind).toBe("wait");
});

it("is due again after the interval with compare: record, even if the firewall pushes", async () => {
  loop = await openLoop("  - { name: home, zone: example.org, compare: record, ipv4: wan0 }");
  const { due } = await loop.updater.round(signal);
  expect(due).toBe(loop.clock.now + loop.config.interval);
});

it.each([
  ["the interface has no address", () => ({ body: { wan0: wanWith([], []) } })],
  ["the interface is gone", () => ({ body: { lan0: wanWith(["9.9.9.9"], []) } })],
])("is not due to read the record while %s, even if verify is due", async (_, says) => {
  loop = await openLoop("  - { name: home, zone: example.org, verify: 1m, ipv4: wan0 }");
  const { due } = await loop.updater.round(signal);
  expect(due).toBe(loop.clock.now + 60_000);
  loop.clock.now += 61_000;
  loop.says.firewall = says;
  expect((await loop.updater.round(signal)).due).toBeUndefined();
});

it("does not make one token wait because another has used up its quota", async () => {
  loop = await openLoop();
  const { config, clock, says } = loop;
  const dns = config.targets.get("dns");
  const [home] = config.names;
  if (!dns || !home) throw new Error("the loop has a target and a name");
  const targets = new Map([...config.targets, ["other", { ...dns, token: () => "0ther" }]]);
  const ipv4 = new Map([...home.families].slice(0, 1));
  const names = ["dns", "other"].map((target) => ({ ...home, target, families: ipv4 }));
  says.service = ({ headers }) =>
    headers["auth-api-token"] === "t0ken"
      ? { status: 500, headers: { "ratelimit-limit": "300", "ratelimit-remaining": "0", "ratelimit-reset": "60" } }
      : undefined;
  const opened = await openStateFile(config.stateFile, clock.now, { write: true });
  if (opened.kind !== "open") throw new Error(opened.because);
  const tools = { state: opened.state, now: () => clock.now, random: () => 0 };
  const updater = await openUpdater({ ...config, targets, names }, tools);
  const { results } = await updater.round(signal);
  updater.close();
  expect(results.map(({ plan }) => plan.kind)).toEqual(["replace", "replace"]);
});

it("reads the list of a v1 zone once for many names", async () => {
  const some = ["home", "nas", "tv"];
  loop = await openLoop(
    some.map((name) => `  - { name: ${name}, zone: example.org, ipv4: wan0, ipv6: wan0 }`).join("\n"),
  );
  const listed = () => loop.service.asked.filter(({ path }) => path.includes("/records?")).length;
  for (const name of some.slice(1)) {
    loop.records.push({ id: `${name}4`, type: "A", name, value: "192.0.2.1", zone_id: "z1" });
    loop.records.push({ id: `${name}6`, type: "AAAA", name, value: "2001:db8::1", zone_id: "z1" });
  }
  loop.records.push({ id: "tv6b", type: "AAAA", name: "tv", value: "2001:db8::2", zone_id: "z1" });
  expect(await loop.round()).toEqual(["done", "done", "done", "done", "done", "failed"]);
  // Three names start in parallel, and cache the id of their other family. A name with two records of one type is not
  // cached.
  expect(listed()).toBe(4);
});

it("starts no write after a stop", async () => {
  loop = await openLoop();
  const stop = new AbortController();
  loop.says.service = ({ method, path }) => {
    if (method === "PUT" && path.endsWith("r4")) stop.abort();
    return undefined;
  };
  const { results } = await loop.updater.round(stop.signal);
  expect(loop.writes().map(({ path }) => path)).toEqual(["/api/v1/records/r4"]);
  expect(results[1]).not.toHaveProperty("outcome");
});

it("a preview writes nothing, and does not store a Retry-After", async () => {
  loop = await openLoop();
  loop.says.service = () => ({ status: 429, headers: { "retry-after": "600" }, body: {} });
  expect((await loop.updater.preview(signal)).results.map(({ outcome }) => outcome?.kind)).toEqual([
    "refused",
    "refused",
  ]);
  loop.says.service = () => undefined;
  expect(await loop.round()).toEqual(["done", "done"]);
});
