import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../test/rig/until.ts";
import { goodFirewall, type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Reply, startServer, wanWith } from "../../test/rig/updater/services.ts";
import { createLog } from "../process/log.ts";
import { Reporter } from "./report/reporter.ts";
import type { Round } from "./round/result.ts";

type Line = { readonly level: string; readonly msg: string; readonly because?: string };

let loop: Loop;
let lines: Line[];
const log = () => createLog({ format: "json", write: (line: string) => void lines.push(JSON.parse(line)) });
beforeEach(async () => {
  lines = [];
  loop = await openLoop();
});
afterEach(() => loop.close());

const logged = () => lines.map(({ msg }) => msg);

describe("reporting", () => {
  it("reports a failure of the firewall once for all its names, and its end once", async () => {
    const reporter = new Reporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    await round();
    lines = [];
    loop.says.firewall = () => ({ status: 500 });
    for (let i = 0; i < 3; i++) await round();
    loop.says.firewall = goodFirewall;
    for (let i = 0; i < 3; i++) await round();
    expect(logged()).toEqual(["addresses could not be read", "addresses can be read again"]);
  });

  it("reports each record's failure once, again when its reason changes, and its end once", async () => {
    const reporter = new Reporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    loop.says.service = ({ path }) => (path.endsWith("/r4") ? { status: 500 } : undefined);
    for (let i = 0; i < 3; i++) await round();
    loop.says.service = ({ path }) => (path.endsWith("/r4") ? { status: 401 } : undefined);
    for (let i = 0; i < 3; i++) await round();
    loop.says.service = () => undefined;
    for (let i = 0; i < 3; i++) await round();
    expect(logged()).toEqual([
      "record possibly replaced",
      "record replaced by 2a00::9",
      "record not replaced",
      "the problem with this record is over",
      "record replaced by 9.9.9.9",
    ]);
  });

  it("reports once for all replaced records that the state file cannot be written, and its end once", async () => {
    const reporter = new Reporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    mkdirSync(loop.config.stateFile);
    for (let i = 0; i < 3; i++) await round();
    rmSync(loop.config.stateFile, { recursive: true });
    for (let i = 0; i < 2; i++) await round();
    expect(logged()).toEqual([
      "the state file cannot be written",
      "record replaced by 9.9.9.9",
      "record replaced by 2a00::9",
      "the state file can be written again",
    ]);
    expect(lines[0]?.because).toBe("EISDIR: after a restart, unchanged addresses would be written again");
  });

  it("reports once that an interface has lost its address", async () => {
    const reporter = new Reporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    await round();
    lines = [];
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.9"], ["fe80::1"]) } });
    for (let i = 0; i < 3; i++) await round();
    loop.says.firewall = goodFirewall;
    await round();
    expect(logged()).toEqual(["no address; the record is left as it is", "the problem with this record is over"]);
    expect(lines[0]?.because).toBe("wan0 has no usable address: fe80::1 is link-local");
  });
});

describe("watching", () => {
  it("continues automatically, recovers, and stops when the signal aborts", async () => {
    const stop = new AbortController();
    loop.says.firewall = () => ({ status: 500 });
    const watching = loop.updater.watch({ interval: 50, reporter: new Reporter(log()) }, stop.signal);
    await until(() => loop.firewall.asked.length > 0);
    loop.clock.now += 300_000;
    loop.says.firewall = goodFirewall;
    await until(() => "AAAA" in loop.stored());
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::9"]) } });
    await until(() => loop.stored().A === "9.9.9.10");
    stop.abort();
    await watching;
    expect(loop.writes().length).toBe(3);
  });

  it("reports what was done before a stop, and no failure of what the stop aborts", async () => {
    const stop = new AbortController();
    loop.says.service = ({ method, path }) =>
      method === "PUT" && path.endsWith("/r6") ? { body: { a: 1 }, fault: "hang" } : undefined;
    const watching = loop.updater.watch({ interval: 60_000, reporter: new Reporter(log()) }, stop.signal);
    await until(() => loop.writes().length === 2 && loop.stored().A === "9.9.9.9");
    stop.abort();
    await watching;
    expect(logged()).toEqual(["record replaced by 9.9.9.9"]);
  });
});

it("pauses briefly even when something is due immediately", async () => {
  const stop = new AbortController();
  const asked: number[] = [];
  loop.says.firewall = ({ path }) => {
    if (!path.endsWith("/events")) asked.push(performance.now());
    return goodFirewall();
  };
  // Without `random`, every back-off is over when it begins.
  loop.says.service = () => ({ status: 500 });
  const watching = loop.updater.watch({ interval: 3_600_000, reporter: new Reporter(log()) }, stop.signal);
  await until(() => asked.length >= 3);
  stop.abort();
  await watching;
  expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(500);
});

describe("watching two firewalls, one of which does not answer yet", () => {
  it("updates the names of the other, and those of this one when it has answered", async () => {
    await loop.close();
    const mute = Promise.withResolvers<Reply>();
    const slow = await startServer(({ path }) => (path.endsWith("/events") ? { status: 404 } : mute.promise));
    const names = `  - { name: home, zone: example.org, source: home, ipv4: wan0 }
  - { name: home, zone: example.org, source: slow, ipv6: wan0 }`;
    loop = await openLoop(names, undefined, { source: `}, slow: { url: "${slow.url}", keyFile: k` });
    const stop = new AbortController();
    const rounds: Round[] = [];
    const options = { reporter: new Reporter(log()), onRound: (round: Round) => void rounds.push(round) };
    const watching = loop.updater.watch(options, stop.signal);
    for (const address of ["9.9.9.9", "9.9.9.10"]) {
      loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
      loop.updater.retryNow();
      await until(() => loop.stored().A === address);
    }
    await until(() => rounds.length > 0);
    expect([...(rounds.at(-1)?.readings.keys() ?? [])]).toEqual(["home"]);
    expect(slow.asked.filter(({ path }) => !path.endsWith("/events")).length).toBe(1);
    mute.resolve(goodFirewall());
    await until(() => loop.stored().AAAA === "2a00::9");
    stop.abort();
    await watching;
    await slow.close();
  });
});

describe("a requested round", () => {
  /** Without a request, it makes one round, and the next after an hour. */
  const watchLong = () => {
    const stop = new AbortController();
    const watching = loop.updater.watch({ interval: 3_600_000, reporter: new Reporter(log()) }, stop.signal);
    const end = async () => {
      stop.abort();
      await watching;
    };
    return { check: loop.updater.retryNow, end };
  };
  const failing = { status: 500 };
  it.each([
    ["the firewall", { firewall: () => failing }],
    ["the record service", { service: () => failing }],
  ])("retries what failed at %s before its back-off has ended", async (_, fails) => {
    await loop.close();
    // The clock stands still: no back-off ends without a request.
    loop = await openLoop(undefined, () => 0.5);
    Object.assign(loop.says, fails);
    const { check, end } = watchLong();
    await until(() => lines.length > 0);
    Object.assign(loop.says, { firewall: goodFirewall, service: () => undefined });
    check();
    await until(() => loop.stored().A === "9.9.9.9");
    await end();
    expect(loop.records.find(({ id }) => id === "r4")?.value).toBe("9.9.9.9");
  });

  it("polls the firewall again if a poll was under way: its answer may be outdated", async () => {
    let asked = 0;
    let answer: (reply: Reply) => void = () => undefined;
    loop.says.firewall = ({ path }) => {
      if (path.endsWith("/events")) return { status: 404 };
      asked += 1;
      if (asked > 1) return { body: { wan0: wanWith(["9.9.9.10"], []) } };
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const { check, end } = watchLong();
    await until(() => asked === 1);
    check();
    answer(goodFirewall());
    await until(() => loop.stored().A === "9.9.9.10");
    await end();
    expect(loop.records.find(({ id }) => id === "r4")?.value).toBe("9.9.9.10");
  });
});

describe("watching two record services, one of which does not answer", () => {
  const names = `  - { name: home, zone: example.org, ipv4: wan0, target: dns }
  - { name: one, zone: example.net, ipv4: wan0, target: silent }
  - { name: two, zone: example.net, ipv4: wan0, target: silent }`;
  let silent: Server;
  let wake: () => void;
  let stop: AbortController;
  let watching: Promise<void>;

  beforeEach(async () => {
    silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await loop.close();
    const target = `timeout: 10s }, silent: { url: "${url}", token: { file: t }, timeout: 10s`;
    loop = await openLoop(names, () => 0.5, { target });
    stop = new AbortController();
    wake = loop.updater.retryNow;
    watching = loop.updater.watch({ interval: 3_600_000, reporter: new Reporter(log()) }, stop.signal);
    await until(() => loop.stored().A === "9.9.9.9");
  });
  afterEach(async () => {
    stop.abort();
    await watching;
    silent.closeAllConnections();
    silent.close();
  });

  it("writes new addresses to the one that answers, without waiting for the other", async () => {
    for (const address of ["9.9.9.10", "9.9.9.11"]) {
      loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
      wake();
      await until(() => loop.stored().A === address);
    }
    expect(logged()).not.toContain("record not replaced");
    expect(loop.writes()).toHaveLength(3);
  });

  it("reports both, each when it has ended", async () => {
    wake();
    await until(() => logged().includes("record replaced by 9.9.9.9"));
    expect(logged()).toEqual(["record replaced by 9.9.9.9"]);
    await until(() => logged().length === 3);
    expect(logged().slice(1)).toEqual(["record not replaced", "record not replaced"]);
  });
});
