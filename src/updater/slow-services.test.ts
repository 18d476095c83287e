import { afterEach, beforeEach, expect, it } from "vitest";
import { awake } from "../../test/rig/awake.ts";
import { realPause } from "../../test/rig/real-pause.ts";
import { until } from "../../test/rig/until.ts";
import { firstRecords, type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Asked, recordService, startServer, type TestServer, wanWith } from "../../test/rig/updater/services.ts";
import { createLog } from "../process/log.ts";
import { Reporter } from "./report/reporter.ts";
import { createStatusKeeper } from "./report/status.ts";
import { openStateFile } from "./round/state-file.ts";
import { openUpdater, type Updater, type WatchOptions } from "./updater.ts";

/** A record service that takes longer for every request than the reporter waits. */
let slow: TestServer;
let takes: (asked: Asked) => number;
/** An additional wait of the service, if any. */
let held: (asked: Asked) => Promise<void> | undefined;
let loop: Loop;
let logged: string[];
let updater: Updater;
let stop: AbortController;
let watching: Promise<void>;
let wake: () => void;
/** The `ok` of the first name, after each round. */
let oks: (boolean | undefined)[];
/** The address that the last name should get, after the last round. */
let wanted: string | null | undefined;

beforeEach(async () => {
  takes = () => 150;
  held = () => undefined;
  const records = firstRecords();
  const names = ["other", "n0", "n1", "n2", "n3", "n4", "n5"];
  const others = names.map((name, i) => ({ id: `o${i + 4}`, type: "A", name, value: "192.0.2.1", zone_id: "z1" }));
  records.push(...others);
  const reply = recordService(records);
  slow = await startServer(async (asked) => {
    await realPause(takes(asked), "a slow service");
    await held(asked);
    return reply(asked);
  });
});
afterEach(async () => {
  stop.abort();
  await watching;
  updater.close();
  await Promise.all([loop.close(), slow.close()]);
});

async function watchSlow(names: string, patience = 50): Promise<void> {
  // With another host name, it counts as another service.
  const other = slow.url.replace("127.0.0.1", "localhost");
  const target = `timeout: 10s }, slow: { url: "${slow.url}", token: { file: t } }, other: { url: "${other}", token: { file: t }, timeout: 5m`;
  loop = await openLoop(names, () => 0.5, { target });
  logged = [];
  oks = [];
  const status = createStatusKeeper(Date.now);
  const log = createLog({ format: "json", write: (line: string) => void logged.push(JSON.parse(line).msg) });
  stop = new AbortController();
  const { config, clock } = loop;
  const opened = await openStateFile(config.stateFile, clock.now, { write: true });
  if (opened.kind !== "open") throw new Error(opened.because);
  const { state } = opened;
  updater = await openUpdater(config, { state, now: () => clock.now, random: () => 0.5 });
  const onRound: WatchOptions["onRound"] = (round, next) => {
    status.note(round, state, next);
    oks.push(status.now().names[0]?.ok);
    wanted = status.now().names.at(-1)?.wanted;
  };
  wake = updater.retryNow;
  watching = updater.watch({ reporter: new Reporter(log), onRound, patience }, stop.signal);
}

it("a compared record is read once per round, however slow its service is", async () => {
  await watchSlow("  - { name: home, zone: example.org, compare: record, ipv4: wan0, target: slow }");
  await until(() => logged.includes("record replaced by 9.9.9.9"));
  const before = slow.asked.length;
  await awake(1_000);
  expect(slow.asked.length).toBe(before);
  oks = [];
  wake();
  await until(() => slow.asked.length > before);
  await awake(1_000);
  expect(slow.asked.length).toBe(before + 1);
  expect(new Set(oks)).toEqual(new Set([true]));
});

it("names that wait for their turn at a slow service are not reported as failed", async () => {
  await watchSlow(
    `  - { name: home, zone: example.org, ipv4: wan0, target: slow }
  - { name: other, zone: example.org, ipv4: wan0, target: slow }`,
    400,
  );
  await until(() => logged.length === 2);
  const change = (address: string) => {
    loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
    wake();
  };
  takes = ({ path }) => (path.endsWith("/r4") ? 500 : 1);
  change("9.9.9.10");
  await realPause(800, "the change falls into a slow write");
  change("9.9.9.11");
  await until(() => logged.filter((text) => text === "record replaced by 9.9.9.11").length === 2);
  expect(logged.filter((text) => !text.startsWith("record replaced by"))).toEqual([]);
});

it("an address that arrives while its service is busy is written afterwards, even while another service is still busy", async () => {
  const names = ["slow", "other"].map(
    (target, i) => `  - { name: ${["home", "other"][i]}, zone: example.org, ipv4: wan0, target: ${target} }`,
  );
  takes = () => 200;
  const gate = Promise.withResolvers<void>();
  held = ({ path }) => (path.endsWith("/o4") ? gate.promise : undefined);
  await watchSlow(names.join("\n"), 3_600_000);
  await until(() => slow.asked.some(({ path }) => path.endsWith("/r4")));
  loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], []) } });
  wake();
  await until(() => slow.asked.some(({ body }) => body.includes("9.9.9.10")));
  expect(slow.asked.filter(({ method, path }) => method === "PUT" && path.endsWith("/o4"))).toHaveLength(1);
  gate.resolve();
});

it("a finished write is reported even while the firewall is slow to answer", async () => {
  await watchSlow("  - { name: home, zone: example.org, ipv4: wan0, target: slow }");
  await until(() => slow.asked.length > 0);
  loop.says.firewall = () =>
    new Promise((resolve) => stop.signal.addEventListener("abort", () => resolve({ status: 500 })));
  await until(() => logged.length > 0);
  expect(logged).toEqual(["record replaced by 9.9.9.9"]);
});

it("what waits for its turn at a slow service is written with the latest address, and not at all when it is no longer wanted", async () => {
  const names = Array.from({ length: 6 }, (_, i) => `  - { name: n${i}, zone: example.org, ipv4: wan0, target: slow }`);
  await watchSlow(names.join("\n"));
  await until(() => logged.length === 6);
  const sent = (value: string) => slow.asked.filter(({ body }) => body.includes(`"${value}"`)).length;
  const done = (value: string) => logged.filter((text) => text === `record replaced by ${value}`).length;
  const change = (address: string) => {
    loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
    wake();
  };
  /**
   * The second change comes while the service holds the first writes. They continue when the second change is planned.
   */
  const changeTwice = async (first: string, second: string) => {
    const gate = Promise.withResolvers<void>();
    held = () => gate.promise;
    const before = slow.asked.length;
    change(first);
    await until(() => slow.asked.length === before + 4);
    change(second);
    await until(() => wanted === second);
    gate.resolve();
  };
  await changeTwice("9.9.9.10", "9.9.9.11");
  await until(() => done("9.9.9.11") === 6);
  expect([sent("9.9.9.10"), sent("9.9.9.11")]).toEqual([4, 6]);

  await changeTwice("9.9.9.12", "9.9.9.11");
  await until(() => done("9.9.9.11") === 10);
  expect([sent("9.9.9.12"), sent("9.9.9.11")]).toEqual([4, 10]);
});
