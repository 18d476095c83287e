import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realPause } from "../../test/rig/real-pause.ts";
import { type Loop, type LoopSettings, openLoop } from "../../test/rig/updater/loop.ts";
import { type Asked, type Reply, startServer, type TestServer, wanWith } from "../../test/rig/updater/services.ts";
import { noLog } from "../process/log.ts";
import { Reporter } from "./report/reporter.ts";

/** A service that takes both addresses of a name in one request, and removes the one that is not in it. */

let service: TestServer;
let loop: Loop;
let says: (asked: Asked) => Reply;
beforeEach(async () => {
  says = () => ({ body: "OK" });
  service = await startServer((asked) => says(asked));
});
afterEach(async () => {
  await loop.close();
  await service.close();
});

async function openBoth(settings = "", ipv6 = "wan0", more: LoopSettings = {}): Promise<void> {
  const target = `{ api: http, url: "${service.url}/?a={ipv4}&aaaa={ipv6}", done: { line: OK }, families: together }`;
  const names = `  - { name: home, zone: example.org, target: both, ipv4: wan0, ipv6: ${ipv6}${settings} }`;
  // The loop's own service is a second target, which no name uses.
  loop = await openLoop(names, () => 0, {
    target: `timeout: 15s }, both: ${target}, rest: { api: v1, url: "http://127.0.0.1:1", token: { file: t }`,
    ...more,
  });
}
const moveTo = (ipv4: string[], ipv6: string[]) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith(ipv4, ipv6) } });
  service.asked.length = 0;
};
const sent = () => service.asked.map(({ path }) => path.slice(2));

it("gets one request after a reconnect, with both new addresses", async () => {
  await openBoth();
  expect(await loop.round()).toEqual(["done", "done"]);
  expect(sent()).toEqual(["a=9.9.9.9&aaaa=2a00::9"]);
  moveTo(["9.9.9.10"], ["2a00::10"]);
  expect(await loop.round()).toEqual(["done", "done"]);
  expect([sent(), loop.stored()]).toEqual([["a=9.9.9.10&aaaa=2a00::10"], { A: "9.9.9.10", AAAA: "2a00::10" }]);
  expect(await loop.round()).toEqual(["nothing", "nothing"]);
});

it("keeps the other address if only one has changed, or has gone", async () => {
  await openBoth();
  await loop.round();
  moveTo(["9.9.9.10"], ["2a00::9"]);
  await loop.round();
  expect(sent()).toEqual(["a=9.9.9.10&aaaa=2a00::9"]);
  moveTo(["9.9.9.11"], []);
  await loop.round();
  expect(sent()).toEqual(["a=9.9.9.11&aaaa=2a00::9"]);
});

describe("if the addresses have different sources", () => {
  let router: TestServer;
  let inside: ReturnType<typeof wanWith>;
  let isSlow: boolean;
  beforeEach(async () => {
    [inside, isSlow] = [wanWith([], ["2a00::9"]), false];
    router = await startServer(async () => {
      if (isSlow) await realPause(100, "the slower one of two sources");
      return { body: { wan0: inside } };
    });
    await openBoth("", "{ source: home, interface: wan0 }, source: spare", {
      entry: async () => `{ url: "${router.url}", keyFile: k }`,
      settings: "interval: 1s",
      spare: true,
    });
  });
  afterEach(() => router.close());

  it.each([
    ["9.9.9.10", "2a00::9"],
    ["9.9.9.9", "2a00::10"],
  ])("one round writes %s and %s, whichever has changed", async (ipv4, ipv6) => {
    await loop.round();
    inside = wanWith([], [ipv6]);
    moveTo([ipv4], []);
    await loop.round();
    expect(sent()).toEqual([`a=${ipv4}&aaaa=${ipv6}`]);
  });

  it("gets one request after a reconnect too", async () => {
    const stop = new AbortController();
    const watching = loop.updater.watch({ reporter: new Reporter(noLog) }, stop.signal);
    await expect.poll(sent).toEqual(["a=9.9.9.9&aaaa=2a00::9"]);
    [inside, isSlow] = [wanWith([], ["2a00::10"]), true];
    moveTo(["9.9.9.10"], ["2a00::9"]);
    await expect.poll(() => loop.stored(), { timeout: 5_000 }).toEqual({ A: "9.9.9.10", AAAA: "2a00::10" });
    expect(sent()).toEqual(["a=9.9.9.10&aaaa=2a00::10"]);
    stop.abort();
    await watching;
  });
});

describe("after a request with an unknown outcome", () => {
  it("gets both again in one", async () => {
    await openBoth();
    await loop.round();
    moveTo(["9.9.9.10"], ["2a00::10"]);
    says = () => ({ fault: "reset" });
    expect(await loop.round()).toEqual(["failed", "failed"]);
    says = () => ({ body: "OK" });
    service.asked.length = 0;
    loop.clock.now += 600_000;
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(sent()).toEqual(["a=9.9.9.10&aaaa=2a00::10"]);
  });
});
