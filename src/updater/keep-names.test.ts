import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realPause } from "../../test/rig/real-pause.ts";
import { openServiceManager } from "../../test/rig/systemd.ts";
import { until } from "../../test/rig/until.ts";
import { type EventFirewall, startEventFirewall } from "../../test/rig/updater/event-firewall.ts";
import { type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { recordService, startServer, wanWith } from "../../test/rig/updater/services.ts";
import { storedIn } from "../../test/rig/updater-home.ts";
import { createLog } from "../process/log.ts";
import { type KeepTools, keepNames } from "./keep-names.ts";
import { readConfig } from "./read-config.ts";
import { readHistory } from "./report/history.ts";
import { openStateFile } from "./round/state-file.ts";

let loop: Loop;
let firewall: EventFirewall;
let stop: AbortController;
let running: Promise<void>;
let logged: { msg: string; because?: string; todo?: string }[];
let requests: { check: () => void; reload: () => void };
const configFile = () => join(loop.folder, "moor.yaml");
const report = (host: number) => ({ wan0: wanWith([`9.9.9.${host}`], [`2a00::${host}`]) });

beforeEach(async () => {
  loop = await openLoop();
  firewall = await startEventFirewall(report(1));
  const text = readFileSync(configFile(), "utf8").replace(loop.firewall.url, firewall.url);
  writeFileSync(configFile(), text);
  await start();
});
afterEach(async () => {
  stop.abort();
  await running;
  await firewall.close();
  await loop.close();
});

async function start(given: Partial<Pick<KeepTools, "env" | "now" | "patience">> = {}) {
  const { env = {}, now = Date.now, patience = 60_000 } = given;
  const reload = () => readConfig("moor.yaml", {}, loop.folder);
  const config = reload();
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const opened = await openStateFile(config.value.stateFile, Date.now(), { write: true });
  if (opened.kind !== "open") throw new Error(opened.because);
  logged = [];
  stop = new AbortController();
  const log = createLog({ format: "json", write: (line: string) => void logged.push(JSON.parse(line)) });
  running = keepNames(
    config.value,
    {
      state: opened.state,
      log,
      now,
      random: () => 0.1,
      host: "here",
      env,
      reload,
      patience,
      onRequest: (given) => {
        requests = given;
      },
    },
    stop.signal,
  );
}

/** A round can be requested only after the first reading. */
async function startAndRead() {
  const before = polls();
  await start();
  await until(() => polls() > before);
}

const stores = (host: number) =>
  until(() => loop.stored().A === `9.9.9.${host}` && loop.stored().AAAA === `2a00::${host}`);
const polls = () => firewall.asked.filter(({ path }) => !path.endsWith("/events")).length;

describe("a firewall that pushes", () => {
  it("is not polled, and each change is written immediately", async () => {
    await stores(1);
    await until(() => firewall.listeners() === 1);
    // When this address is written, it has arrived over the stream, which is therefore in use.
    firewall.say(report(2));
    await stores(2);
    const before = polls();
    for (let host = 3; host < 6; host++) {
      firewall.say(report(host));
      await stores(host);
    }
    expect(polls()).toBe(before);
    expect(loop.writes().length).toBe(10);
  });

  it("is polled while the stream is down, and followed again when it is back", async () => {
    await stores(1);
    await until(() => firewall.listeners() === 1);
    firewall.say(report(2));
    await stores(2);
    firewall.hangUp(503);
    firewall.say(report(3), true);
    await stores(3);
    expect(polls()).toBeGreaterThan(0);
    firewall.accept();
    await until(() => firewall.listeners() === 1);
    firewall.say(report(4));
    await stores(4);
    expect(logged.filter(({ msg }) => msg.includes("could not"))).toEqual([]);
  });

  it("is polled when it pushes something unreadable, and nothing is written for that", async () => {
    await stores(1);
    await until(() => firewall.listeners() === 1);
    const before = [polls(), loop.writes().length];
    firewall.send('event: change\ndata: {"wan0":"up"}\n\n');
    await until(() => polls() > (before[0] ?? 0));
    expect(loop.writes().length).toBe(before[1]);
  });

  it("is asked only once for a stream if it has none", async () => {
    stop.abort();
    await running;
    firewall.hangUp(404);
    await until(() => firewall.listeners() === 0);
    const before = firewall.asked.length;
    await startAndRead();
    requests.check();
    await until(() => firewall.asked.length >= before + 3);
    expect(firewall.asked.slice(before).filter(({ path }) => path.endsWith("/events")).length).toBe(1);
  });
});

describe("a request for a check", () => {
  it("starts a round immediately", async () => {
    stop.abort();
    await running;
    firewall.hangUp(404);
    await startAndRead();
    firewall.say(report(2), true);
    requests.check();
    await stores(2);
    expect(firewall.listeners(), "no stream reported it").toBe(0);
  });
});

describe("a config that changes", () => {
  it("is adopted when it is good, automatically or on request", async () => {
    await stores(1);
    const text = readFileSync(configFile(), "utf8");
    writeFileSync(configFile(), text.replace(", ipv6: wan0", ""));
    await until(() => logged.some(({ msg }) => msg === "the config was reloaded"));
    firewall.say(report(2));
    await until(() => loop.stored().A === "9.9.9.2");
    expect(loop.stored().AAAA).toBe("2a00::1");
    const before = logged.length;
    requests.reload();
    await until(() => logged.slice(before).some(({ msg }) => msg === "the config was reloaded"));
  });

  it.each([
    ["is bad", () => "names: 7\n", "write `[A, B]`, or start each entry with `- `"],
    [
      "names nothing",
      (text: string) => `${text.slice(0, text.indexOf("names:"))}names: []\n`,
      "add one below `names:`",
    ],
  ])("is ignored when it %s, and the log says what to do: the old one stays in use", async (_, changed, wanted) => {
    await stores(1);
    writeFileSync(configFile(), changed(readFileSync(configFile(), "utf8")));
    const isFault = ({ msg }: { msg: string }) => msg.includes("the old one stays in use");
    await until(() => logged.some(isFault));
    expect(logged.filter(isFault).map(({ todo }) => todo)).toContain(wanted);
    await until(() => firewall.listeners() === 1);
    firewall.say(report(2));
    await stores(2);
    expect(logged.map(({ msg }) => msg)).not.toContain("the config was reloaded");
  });

  it("is ignored when it turns bad while a good one is being adopted", async () => {
    await stores(1);
    requests.reload();
    writeFileSync(configFile(), "names: 7\n");
    requests.reload();
    expect(logged.slice(-2).map(({ msg }) => msg)).toEqual([
      "the config was reloaded",
      expect.stringContaining("the old one stays in use"),
    ]);
    firewall.say(report(2));
    await stores(2);
  });

  it("is adopted when it changes while another one is being adopted", async () => {
    await stores(1);
    const text = readFileSync(configFile(), "utf8");
    requests.reload();
    writeFileSync(configFile(), text.replace(", ipv6: wan0", ""));
    await until(() => logged.filter(({ msg }) => msg === "the config was reloaded").length === 2);
    await until(() => firewall.listeners() === 1);
    firewall.say(report(2));
    await until(() => loop.stored().A === "9.9.9.2");
    expect(loop.stored().AAAA).toBe("2a00::1");
  });

  it("is adopted after the write under way, which is not repeated however often it is reloaded", async () => {
    stop.abort();
    await running;
    const gate = Promise.withResolvers<void>();
    const serve = recordService(loop.records);
    const slow = await startServer(async (asked) => {
      if (asked.method === "PUT") await gate.promise;
      return serve(asked);
    });
    try {
      const writes = () => slow.asked.filter(({ method, path }) => method === "PUT" && path.endsWith("/r4"));
      writeFileSync(configFile(), readFileSync(configFile(), "utf8").replace(loop.service.url, slow.url));
      await start();
      await until(() => writes().length > 0);
      for (let times = 0; times < 10; times++) {
        requests.reload();
        await new Promise(setImmediate);
      }
      gate.resolve();
      await until(() => Object.keys(loop.stored()).length > 0 && slow.asked.some(({ path }) => path.endsWith("/r6")));
      expect(writes()).toHaveLength(1);
    } finally {
      gate.resolve();
      stop.abort();
      await running;
      await slow.close();
    }
  });

  it("may name another state file; a damaged one is set aside and reported", async () => {
    await stores(1);
    writeFileSync(join(loop.folder, "other.json"), "{");
    writeFileSync(configFile(), `state: other.json\n${readFileSync(configFile(), "utf8")}`);
    await until(() => logged.some(({ because }) => /other\.json was damaged: it is kept as/.test(because ?? "")));
    await until(() => storedIn(join(loop.folder, "other.json")).A === "9.9.9.1");
    const aside = readdirSync(loop.folder).filter((name) => /^other\.json\../.test(name));
    expect(aside.map((name) => readFileSync(join(loop.folder, name), "utf8"))).toEqual(["{"]);
  });

  it("is read again when a secret in a file changes", async () => {
    await stores(1);
    writeFileSync(join(loop.folder, "t"), "an0ther\n", { mode: 0o600 });
    await until(() => logged.some(({ msg }) => msg === "the config was reloaded"));
    await until(() => firewall.listeners() === 1);
    firewall.say(report(2));
    await until(() => logged.some(({ because }) => because?.includes("denied access") ?? false));
    expect(loop.writes().length).toBe(2);
    writeFileSync(join(loop.folder, "t"), "t0ken\n", { mode: 0o600 });
    await stores(2);
  });
});

describe("a program that is started for a change", () => {
  const said = () => (existsSync(join(loop.folder, "out")) ? readFileSync(join(loop.folder, "out"), "utf8") : "");
  const restart = async () => {
    stop.abort();
    await running;
    await start();
  };

  it("is started again after a crash while it ran, and not after it has ended", async () => {
    await stores(1);
    const script =
      '#!/bin/sh\necho "$MOOR_NAME $MOOR_TYPE $MOOR_OLD $MOOR_NEW" >> out; while [ ! -e go ]; do sleep 0.01; done\n';
    writeFileSync(join(loop.folder, "program"), script, { mode: 0o755 });
    writeFileSync(
      configFile(),
      `run: { command: ./program }\n${readFileSync(configFile(), "utf8").replace(", ipv6: wan0", "")}`,
    );
    await restart();
    firewall.say(report(2));
    const change = "home.example.org A 9.9.9.1 9.9.9.2\n";
    await until(() => said() === change);
    const whileItRan = readFileSync(join(loop.folder, "moor-state.json"));
    writeFileSync(join(loop.folder, "go"), "");
    const kept = () => Object.keys(JSON.parse(readFileSync(join(loop.folder, "moor-state.json"), "utf8")).events);
    await until(() => kept().length === 0);
    await restart();
    firewall.say(report(3));
    await until(() => said() === `${change}home.example.org A 9.9.9.2 9.9.9.3\n`);
    stop.abort();
    await running;
    writeFileSync(join(loop.folder, "moor-state.json"), whileItRan);
    rmSync(join(loop.folder, "out"));
    firewall.say(report(2));
    await start();
    await until(() => said().endsWith("\n"));
    expect(said().startsWith(change)).toBe(true);
  });
});

describe("notices", () => {
  it("do not report trouble with a name that was removed from the config, and report it when the name is back", async () => {
    stop.abort();
    await running;
    const hook = await startServer(() => ({ body: {} }));
    const good = `notify: [{ kind: webhook, url: "${hook.url}" }]\n${readFileSync(configFile(), "utf8")}`;
    const bad = `${good}  - { name: slip, zone: example.org, ipv4: wan0 }\n`;
    const heard = () => hook.asked.map(({ body }) => JSON.parse(body).name as string);
    try {
      writeFileSync(configFile(), bad);
      await start({ patience: 1_500 });
      await until(() => logged.some(({ msg }) => msg === "record not replaced"));
      writeFileSync(configFile(), good);
      // Immediately: the trouble must not last long enough for a notice.
      requests.reload();
      await until(() => logged.some(({ msg }) => msg === "the config was reloaded"));
      await realPause(2_500, "a notice would come after 1.5 s");
      expect(heard()).toEqual([]);
      writeFileSync(configFile(), bad);
      await until(() => heard().length > 0);
      expect(heard()).toEqual(["slip.example.org A"]);
    } finally {
      await hook.close();
    }
  });
});

describe("history", () => {
  it("keeps what was done and what failed, once each, even across a restart", async () => {
    await stores(1);
    loop.says.service = ({ method }) => (method === "PUT" ? { status: 422, body: {} } : undefined);
    firewall.say(report(2));
    await until(() => logged.filter(({ msg }) => msg === "record possibly replaced").length === 2);
    stop.abort();
    await running;
    loop.says.service = () => undefined;
    await start();
    // Waits for the log, not for the record: the record is correct before the updater reads the answer and adds to the
    // history.
    await until(() => logged.filter(({ msg }) => msg.startsWith("record replaced by")).length === 2);
    stop.abort();
    await running;
    const file = join(loop.folder, "moor-history.jsonl");
    expect(existsSync(file)).toBe(true);
    expect((await readHistory(file)).map(({ kind, what }) => `${kind}: ${what}`)).toEqual([
      "done: record replaced by 9.9.9.1",
      "done: record replaced by 2a00::1",
      "failing: record possibly replaced",
      "failing: record possibly replaced",
      "done: record replaced by 9.9.9.2",
      "done: record replaced by 2a00::2",
    ]);
  });
});

it("the service manager is notified even after the clock was set forward or the machine slept", async () => {
  await stores(1);
  stop.abort();
  await running;
  const { env, heard } = openServiceManager();
  let ahead = 0;
  await start({ env: { ...env, WATCHDOG_USEC: "200000" }, now: () => Date.now() + ahead });
  const beats = () => heard().split("WATCHDOG=1").length - 1;
  await until(() => beats() > 0);
  ahead = 24 * 3_600_000;
  const before = beats();
  await until(() => beats() > before + 2);
  expect(heard(), "it is still running").not.toContain("STOPPING=1");
});
