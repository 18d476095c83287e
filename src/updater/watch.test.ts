import { mkdirSync, rmSync } from "node:fs";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReporter } from "./reporter.ts";
import { goodFirewall, type Loop, openLoop } from "./rig/loop.ts";
import { wanWith } from "./rig/services.ts";
import { until } from "./rig/until.ts";
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
});
