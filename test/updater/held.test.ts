import { afterEach, describe, expect, it } from "vitest";
import { status } from "../../src/cli/update/status.ts";
import { readHistory } from "../../src/updater/report/history.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "./watcher.ts";

let loop: Loop;
let watcher: Watcher | undefined;
afterEach(async () => {
  await watcher?.stop();
  watcher = undefined;
  await loop.close();
});

const say = (host: number) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([`9.9.9.${host}`], [`2a00::${host}`]) } });
};
const hasUntil = /2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;

describe("a record service that sends a Retry-After of hours", () => {
  it("gets no requests, and log, history, status and `moor status` say until when; a check still tries once", async () => {
    const settings = 'interval: 1s\ncontrol: { listen: "127.0.0.1:0", token: { file: t } }';
    loop = await openLoop(undefined, undefined, { settings });
    let isBusy = true;
    loop.says.service = ({ method }) =>
      method === "PUT" && isBusy ? { status: 429, headers: { "retry-after": "10800" }, body: {} } : undefined;
    watcher = await startWatcher(loop);
    const { lines, ask, check } = watcher;
    await until(() => lines.some(({ target }) => target === "dns"));
    expect(lines.find(({ level }) => level === "warn")).toMatchObject({
      todo: expect.stringMatching(/^no action needed: moor waits until 2.* UTC, as the service asked/),
    });
    const untilWhen = lines.find(({ target }) => target === "dns")?.msg ?? "";
    expect(untilWhen).toMatch(hasUntil);
    await until(async () => (await ask("status")).includes("waits until 2"));
    await until(async () => (await readHistory(loop.config.historyFile)).some(({ about }) => about === "target dns"));
    const { io, printed } = openTerminal(loop.folder);
    await status({}, io);
    expect(printed.out).toMatch(/A .* moor leaves the record service alone until 2.* UTC \(Retry-After\); /);

    expect(loop.writes().length).toBe(1);
    check();
    await until(() => loop.writes().length === 2);
    // Rounds continue meanwhile, and none of them sends a request.
    const rounds = loop.firewall.asked.length;
    await until(() => loop.firewall.asked.length > rounds + 1);
    expect(loop.writes().length).toBe(2);

    isBusy = false;
    check();
    await until(() => loop.stored().A === "9.9.9.9" && loop.stored().AAAA === "2a00::9");
    // One line per Retry-After, and none for the rounds in between.
    expect(lines.filter(({ target }) => target === "dns").length).toBe(2);
  });
});

it("a firewall that was down for a long time is polled again within the interval", async () => {
  loop = await openLoop(undefined, () => 0.999, { settings: "interval: 30s" });
  loop.says.firewall = () => ({ status: 500 });
  for (let n = 0; n < 20; n++) {
    const { due = Number.NaN } = await loop.updater.round(new AbortController().signal);
    expect(due - loop.clock.now).toBeLessThanOrEqual(30_000);
    loop.clock.now = due;
  }
  expect(loop.firewall.asked.length).toBe(20);
});

it("a change delayed by changesPerHour is reported once in log and history, and by `moor status`", async () => {
  loop = await openLoop(undefined, undefined, { settings: "interval: 1s\nchangesPerHour: 1" });
  say(1);
  watcher = await startWatcher(loop);
  const { lines, check } = watcher;
  await until(() => loop.stored().AAAA === "2a00::1");
  // The first address counts as the one change per hour, so these two have to wait.
  for (const host of [2, 3]) {
    const asked = loop.firewall.asked.length;
    say(host);
    check();
    await until(() => loop.firewall.asked.length > asked + 1);
  }
  const held = lines.filter(({ msg }) => msg.startsWith("record waits until"));
  expect(held).toMatchObject([
    { level: "info", name: "home.example.org A", because: expect.stringContaining("changesPerHour") },
    { level: "info", name: "home.example.org AAAA" },
  ]);
  await watcher.stop();
  const history = await readHistory(loop.config.historyFile);
  expect(history.filter(({ kind }) => kind === "waiting").length).toBe(2);
  const { io, printed } = openTerminal(loop.folder);
  expect(await status({}, io)).toBe(1);
  expect(printed.out).toMatch(/home\.example\.org A .*record waits until 2.* UTC: the new address is .*changesPerHour/);
});
