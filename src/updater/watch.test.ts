import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../test/rig/until.ts";
import { goodFirewall, type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Reply, wanWith } from "../../test/rig/updater/services.ts";
import { createReporter } from "./report/reporter.ts";
import type { Round, Updater } from "./round/updater.ts";
import { watch } from "./watch.ts";

type Line = { readonly level: number; readonly msg: string; readonly because?: string };

let loop: Loop;
let lines: Line[];
const log = () => pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
beforeEach(async () => {
  lines = [];
  loop = await openLoop();
});
afterEach(() => loop.close());

const told = () => lines.map(({ msg }) => msg);

describe("reporting", () => {
  it("tells a failure of the firewall once, for all its names, and its end once", async () => {
    const reporter = createReporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    await round();
    lines = [];
    loop.says.firewall = () => ({ status: 500 });
    for (let i = 0; i < 3; i++) await round();
    loop.says.firewall = goodFirewall;
    for (let i = 0; i < 3; i++) await round();
    expect(told()).toEqual(["addresses could not be read", "addresses can be read again"]);
  });

  it("tells each record's failure once, again when its reason changes, and its end once", async () => {
    const reporter = createReporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    loop.says.service = ({ path }) => (path.endsWith("/r4") ? { status: 500 } : undefined);
    for (let i = 0; i < 3; i++) await round();
    loop.says.service = ({ path }) => (path.endsWith("/r4") ? { status: 401 } : undefined);
    for (let i = 0; i < 3; i++) await round();
    loop.says.service = () => undefined;
    for (let i = 0; i < 3; i++) await round();
    expect(told()).toEqual([
      "record not replaced",
      "record replaced by 2a00::9",
      "record not replaced",
      "the trouble with this record is over",
      "record replaced by 9.9.9.9",
    ]);
  });

  it("tells once that the state file cannot be written, for all records that were replaced, and its end once", async () => {
    const reporter = createReporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    mkdirSync(loop.config.stateFile);
    for (let i = 0; i < 3; i++) await round();
    rmSync(loop.config.stateFile, { recursive: true });
    for (let i = 0; i < 2; i++) await round();
    expect(told()).toEqual([
      "the state file cannot be written",
      "record replaced by 9.9.9.9",
      "record replaced by 2a00::9",
      "the state file is written again",
    ]);
    expect(lines[0]?.because).toBe("EISDIR: a restart would write again what is in the records already");
  });

  it("tells once that an interface has lost its address", async () => {
    const reporter = createReporter(log());
    const round = async () => reporter.report(await loop.updater.round(new AbortController().signal));
    await round();
    lines = [];
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.9"], ["fe80::1"]) } });
    for (let i = 0; i < 3; i++) await round();
    loop.says.firewall = goodFirewall;
    await round();
    expect(told()).toEqual(["no address; the record is left as it is", "the trouble with this record is over"]);
    expect(lines[0]?.because).toBe("wan0 has no fit address: fe80::1 is link-local");
  });
});

describe("watching", () => {
  it("goes on by itself, recovers, and stops when told to", async () => {
    const stop = new AbortController();
    loop.says.firewall = () => ({ status: 500 });
    const watching = watch(
      loop.updater,
      { interval: 50, log: log(), now: () => loop.clock.now, random: () => 0.5 },
      stop.signal,
    );
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

  it("tells what was done before it is stopped, and no failure of what the stop breaks off", async () => {
    const stop = new AbortController();
    loop.says.service = ({ method, path }) =>
      method === "PUT" && path.endsWith("/r6") ? { body: { a: 1 }, fault: "hang" } : undefined;
    const watching = watch(
      loop.updater,
      { interval: 60_000, log: log(), now: () => loop.clock.now, random: () => 0.5 },
      stop.signal,
    );
    await until(() => loop.writes().length === 2 && loop.stored().A === "9.9.9.9");
    stop.abort();
    await watching;
    expect(told()).toEqual(["record replaced by 9.9.9.9"]);
  });

  /** An updater whose rounds come to this. */
  const watched = (round: Partial<Round>, follow: Updater["follow"] = async () => undefined) => {
    const stop = new AbortController();
    const rounds: number[] = [];
    const updater = {
      ...{ ...loop.updater, follow },
      round: async () => {
        rounds.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { ...{ readings: new Map(), results: [], due: undefined, polled: ["home"] }, ...round };
      },
    };
    const options = { interval: 3_600_000, log: log(), now: () => loop.clock.now, random: () => 0.5 };
    const watching = watch(updater, options, stop.signal);
    return {
      rounds,
      end: async () => {
        stop.abort();
        await watching;
      },
    };
  };

  it("looks again at once for what came to be known during a round", async () => {
    const { rounds, end } = watched({}, async (news) => void setTimeout(news, 10));
    await until(() => rounds.length === 2);
    await end();
  });

  it("rests a little also when something is long due", async () => {
    const { rounds, end } = watched({ due: 0 });
    await until(() => rounds.length === 3);
    await end();
    expect((rounds[2] ?? 0) - (rounds[0] ?? 0)).toBeGreaterThan(500);
  });
});

describe("a round that somebody asks for", () => {
  /** Of itself it makes one round, and the next after an hour. */
  const watchLong = () => {
    const stop = new AbortController();
    let wakeUp: () => void = () => undefined;
    const onWake = (wake: () => void) => {
      wakeUp = wake;
    };
    const options = { interval: 3_600_000, log: log(), now: () => loop.clock.now, random: () => 0.5, onWake };
    const watching = watch(loop.updater, options, stop.signal);
    const end = async () => {
      stop.abort();
      await watching;
    };
    return { check: () => wakeUp(), end };
  };
  const failing = { status: 500 };
  it.each([
    ["the firewall", { firewall: () => failing }],
    ["the record service", { service: () => failing }],
  ])("tries what has failed at %s again, whenever its turn would have come", async (_, fails) => {
    await loop.close();
    // The clock stands still: of itself no back-off ever ends.
    loop = await openLoop(undefined, () => 0.5);
    Object.assign(loop.says, fails);
    const { check, end } = watchLong();
    await until(() => lines.length > 0);
    Object.assign(loop.says, { firewall: goodFirewall, service: () => undefined });
    check();
    await until(() => loop.stored().A === "9.9.9.9");
    await end();
  });

  it("asks the firewall anew when it was being asked already: what it says may be from before", async () => {
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
  });
});

describe("watching two record services, one of which says nothing", () => {
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
    const onWake = (given: () => void) => {
      wake = given;
    };
    const options = { interval: 3_600_000, log: log(), now: () => loop.clock.now, random: () => 0.5, onWake };
    watching = watch(loop.updater, options, stop.signal);
    await until(() => loop.stored().A === "9.9.9.9");
  });
  afterEach(async () => {
    stop.abort();
    await watching;
    silent.closeAllConnections();
    silent.close();
  });

  it("writes a new address to the other before that one has ended, and the last of several", async () => {
    for (const address of ["9.9.9.10", "9.9.9.11"]) {
      loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
      wake();
      await until(() => loop.stored().A === address);
    }
    expect(told()).not.toContain("record not replaced");
    expect(loop.writes()).toHaveLength(3);
  });

  it("tells of both, each when it has ended", async () => {
    wake();
    await until(() => told().includes("record replaced by 9.9.9.9"));
    expect(told()).toEqual(["record replaced by 9.9.9.9"]);
    await until(() => told().length === 3);
    expect(told().slice(1)).toEqual(["record not replaced", "record not replaced"]);
  });
});
