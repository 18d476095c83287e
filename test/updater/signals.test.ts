import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, test } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { node } from "../rig/namespace.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";

/** The real program, with an hour between two polls: what happens sooner was requested. */
let loop: Loop;
let watcher: StartedProcess;
beforeEach(async () => {
  loop = await openLoop(undefined, undefined, { settings: "interval: 1h" });
  watcher = startProcess([node, builtProgram(), "update"], { cwd: loop.folder });
  await watcher.says(/replaced by 2a00::9/);
});
afterEach(async () => {
  await watcher.stop();
  await loop.close();
});

const say = (host: number) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([`9.9.9.${host}`], [`2a00::${host}`]) } });
};

it("SIGUSR1 starts a round immediately", async () => {
  say(10);
  watcher.child.kill("SIGUSR1");
  await watcher.says(/replaced by 2a00::10/);
  expect(loop.stored()).toEqual({ A: "9.9.9.10", AAAA: "2a00::10" });
});

it("SIGHUP reloads the config, and keeps the old one if the new one is bad", async () => {
  watcher.child.kill("SIGHUP");
  await watcher.says(/the config was reloaded/);
  const file = join(loop.folder, "moor.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("interval: 1h", "interval: soon"));
  watcher.child.kill("SIGHUP");
  await watcher.says(/the old one stays in use.*moor\.yaml:3:11/);
  say(11);
  watcher.child.kill("SIGUSR1");
  await watcher.says(/replaced by 2a00::11/);
  expect(loop.stored()).toEqual({ A: "9.9.9.11", AAAA: "2a00::11" });
});

test.each(["SIGTERM", "SIGINT"] as const)("%s ends it cleanly, even in the middle of a write", async (signal) => {
  loop.says.service = ({ method }) => (method === "PUT" ? { body: { a: 1 }, fault: "hang" } : undefined);
  say(12);
  watcher.child.kill("SIGUSR1");
  await until(() => loop.writes().length === 3, { what: () => "a write" });
  expect(await watcher.stop(signal)).toMatchObject({ code: 0, err: expect.stringMatching(/stopped\n$/) });
  expect(loop.stored()).toEqual({ A: "9.9.9.9", AAAA: "2a00::9" });
});
