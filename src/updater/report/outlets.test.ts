import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { until } from "../../../test/rig/until.ts";
import { type Reply, startServer, type TestServer } from "../../../test/rig/updater/services.ts";
import { createLog } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { RunConfig } from "../config/outlets.ts";
import { type Outlets, type OutletTools, openOutlets } from "./outlets.ts";
import type { Notice } from "./reporter.ts";
import type { Status } from "./status.ts";

let server: TestServer;
let reply: () => Reply;
let outlets: Outlets | undefined;
let logged: { msg: string; because?: string }[];
let status: Status;

beforeEach(async () => {
  reply = () => ({ body: {} });
  server = await startServer(() => reply());
  logged = [];
  status = {
    started: new Date().toISOString(),
    rounds: 1,
    lastRound: new Date().toISOString(),
    nextRound: null,
    changes: 3,
    failures: 1,
    sources: [{ source: "home", called: "firewall", up: true, how: "events" }],
    services: [],
    names: [
      {
        name: 'ho"me.example.org A',
        ok: true,
        wanted: "9.9.9.9",
        stored: "9.9.9.9",
        storedAt: "2026-01-01T00:00:00.000Z",
        what: "left as it is",
        because: "same",
        onDrift: "",
      },
    ],
  };
});
afterEach(async () => {
  await outlets?.close();
  outlets = undefined;
  await server.close();
});

async function open(config: Partial<Pick<UpdaterConfig, "notify" | "run" | "heartbeats">>) {
  const log = createLog({ format: "json", write: (line: string) => void logged.push(JSON.parse(line)) });
  outlets = openOutlets({ log, host: "here", random: () => 0, status: () => status, events });
  await outlets.adopt(wholeOf(config));
  return outlets;
}

const wholeOf = (config: Partial<Pick<UpdaterConfig, "notify" | "run" | "heartbeats">>) =>
  ({ notify: [], run: [], heartbeats: [], ...config }) as unknown as UpdaterConfig;

/** Nothing was left by an earlier process. */
const events: OutletTools["events"] = { events: () => [], eventDelivered: async () => undefined };

const endpoint = (path = "") => ({ url: new URL(server.url + path), trust: { kind: "system" } as const });
const failing: Notice = {
  kind: "failing",
  key: "k",
  message: "record not replaced",
  fields: { name: "home.example.org A", because: "the record service answered 500", todo: "wait" },
};

describe("programs", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "moor-run-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const script = (text: string, timeout = 30_000, on: RunConfig["on"] = ["changed"]): RunConfig => {
    writeFileSync(join(folder, "program"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return { command: { file: join(folder, "program"), args: ["a b", "$(id)"], folder }, timeout, on };
  };
  const changed: Notice = {
    kind: "done",
    key: "k",
    message: "record replaced by 9.9.9.9",
    change: { old: "192.0.2.1", new: "9.9.9.9" },
    fields: { name: "home.example.org A", because: "$(id); `x`" },
  };
  const said = () => (existsSync(join(folder, "out")) ? readFileSync(join(folder, "out"), "utf8") : "");

  it("get the name and both addresses in their environment, and nothing of ours; no shell reads the arguments", async () => {
    process.env.MOOR_TEST_SECRET = "hidden";
    const { notify } = await open({ run: [script('(env | sort; echo "$1|$2"; echo end) > out')] });
    notify(failing);
    notify(changed);
    await until(() => said().endsWith("end\n"));
    delete process.env.MOOR_TEST_SECRET;
    for (const line of ["MOOR_EVENT=changed", "MOOR_NAME=home.example.org", "MOOR_TYPE=A", "MOOR_OLD=192.0.2.1"])
      expect(said().split("\n")).toContain(line);
    for (const line of ["MOOR_NEW=9.9.9.9", "MOOR_BECAUSE=$(id); `x`", "a b|$(id)"])
      expect(said().split("\n")).toContain(line);
    expect(said()).not.toContain("hidden");
  });

  it("are started one after the other, once per event; the output of one that fails is in the log", async () => {
    const { notify } = await open({ run: [script('echo x >> out; echo "no disk" >&2; exit 3')] });
    for (let i = 0; i < 3; i++) notify(changed);
    await until(() => logged.length === 3);
    expect(said()).toBe("x\nx\nx\n");
    expect(logged[0]).toMatchObject({
      msg: "a program that was started for an event failed",
      because: expect.stringMatching(/program failed with code 3: no disk$/),
    });
  });

  it("are killed when they take too long, with what they started, and the next one starts", async () => {
    const { notify } = await open({ run: [script("echo x >> out; sleep 1000", 100)] });
    notify(changed);
    notify(changed);
    await until(() => logged.length === 2);
    expect(logged[1]?.because).toMatch(/did not end within 0\.1 s, and was killed/);
    expect(said()).toBe("x\nx\n");
  });

  it.each([
    ["the same program", (run: RunConfig) => [run]],
    ["a program with another limit", (run: RunConfig) => [{ ...run, timeout: 20_000 }]],
    ["no program", () => []],
  ])("finish after a reload to a config with %s, and none of the events that wait is lost", async (_, next) => {
    const run = script(`echo "begin $MOOR_NEW" >> out; while [ ! -e go ]; do sleep 0.01; done; echo end >> out`);
    const { notify, adopt } = await open({ run: [run] });
    const all = Array.from({ length: 10 }, (_, i) => `9.9.9.${i}`);
    for (const address of all) notify({ ...changed, change: { old: "192.0.2.1", new: address } });
    await until(() => said() === "begin 9.9.9.0\n");
    await adopt(wholeOf({ run: next(run) }));
    writeFileSync(join(folder, "go"), "");
    await until(() => said().split("end").length === 11);
    expect(said()).toBe(all.map((address) => `begin ${address}\nend\n`).join(""));
    expect(logged).toEqual([]);
  });

  it("that cannot be started are in the log", async () => {
    const { notify } = await open({
      run: [{ ...script(""), command: { file: join(folder, "nowhere"), args: [], folder } }],
    });
    notify(changed);
    await until(() => logged.length === 1);
    expect(logged[0]?.because).toMatch(/cannot be started \(ENOENT\)/);
  });
});

describe("notices", () => {
  it("go to a web hook as JSON, with its query and a token", async () => {
    const { notify } = await open({
      notify: [{ kind: "webhook", ...endpoint("/hook?room=7"), token: () => "tok" }],
    });
    notify({ ...failing, kind: "done" });
    notify(failing);
    await until(() => server.asked.length === 1);
    expect(server.asked[0]).toMatchObject({
      method: "POST",
      path: "/hook?room=7",
      headers: { authorization: "Bearer tok" },
    });
    expect(JSON.parse(server.asked[0]?.body ?? "")).toMatchObject({
      event: "failing",
      message: "record not replaced",
      name: "home.example.org A",
      host: "here",
      because: "the record service answered 500",
    });
  });

  it("go out for the chosen events only, with the old and the new address", async () => {
    const { notify } = await open({ notify: [{ kind: "webhook", ...endpoint(), on: ["changed"] }] });
    notify(failing);
    notify({ ...failing, kind: "waiting" });
    notify({ ...failing, kind: "done", message: "record replaced", change: { old: "192.0.2.1", new: "9.9.9.9" } });
    await until(() => server.asked.length === 1);
    expect(JSON.parse(server.asked[0]?.body ?? "")).toMatchObject({
      event: "changed",
      message: "record replaced",
      old: "192.0.2.1",
      new: "9.9.9.9",
    });
  });

  it("go to ntfy as text, urgent when something is wrong", async () => {
    const { notify } = await open({ notify: [{ kind: "ntfy", ...endpoint("/topic") }] });
    notify(failing);
    notify({ ...failing, kind: "over", message: "the problem with this record is over", fields: { name: "home A" } });
    await until(() => server.asked.length === 2);
    expect(server.asked.map(({ headers }) => [headers.priority, headers.tags])).toEqual([
      ["high", "warning"],
      ["default", "white_check_mark"],
    ]);
    expect(server.asked[0]?.body).toMatch(/^record not replaced\nthe record service answered 500\nwait\n/);
  });

  it("are retried a few times, in order", async () => {
    let tries = 0;
    reply = () => ({ status: ++tries < 3 ? 502 : 200 });
    const { notify } = await open({ notify: [{ kind: "webhook", ...endpoint() }] });
    notify(failing);
    notify({ ...failing, message: "second" });
    await until(() => tries === 4);
    expect(server.asked.map(({ body }) => JSON.parse(body).message)).toEqual([
      "record not replaced",
      "record not replaced",
      "record not replaced",
      "second",
    ]);
    reply = () => ({ status: 500 });
    notify(failing);
    await until(() => logged.some(({ msg }) => msg === "a notice could not be sent"));
    expect(tries).toBe(4);
    expect(server.asked.length).toBe(10);
  });

  it("go out by mail", async () => {
    const mail = await startMailServer();
    const { notify } = await open({
      notify: [
        {
          kind: "mail",
          server: new URL(mail.url),
          from: "moor@example.org",
          to: ["me@example.org", "you@example.org"],
        },
      ],
    });
    notify(failing);
    await until(() => mail.text().includes("\r\n.\r\n"));
    expect(mail.text()).toMatch(/RCPT TO:<me@example\.org>[\s\S]*RCPT TO:<you@example\.org>/);
    expect(mail.text()).toMatch(/Subject: moor: home\.example\.org A: record not replaced/);
    await mail.close();
  });

  it.each([
    ["is not sent unencrypted", "0.0.0.0", false],
    ["may be sent to this machine itself", "127.0.0.1", true],
  ])("by mail: the password %s", async (_, host, isSent) => {
    const mail = await startMailServer();
    const server = new URL(mail.url.replace("127.0.0.1", host));
    const [from, to] = ["moor@example.org", ["me@example.org"]];
    const { notify } = await open({
      notify: [{ kind: "mail", server, from, to, user: "me", password: () => "secret" }],
    });
    notify(failing);
    await until(() => mail.text().includes("AUTH") || logged.some(({ msg }) => msg === "a notice could not be sent"));
    expect(mail.text()).toMatch(isSent ? /^AUTH PLAIN/m : /^STARTTLS/m);
    expect(mail.text().includes("AUTH PLAIN")).toBe(isSent);
    await mail.close();
  });

  it("by mail: a password that the server echoes is not logged", async () => {
    const mail = await startMailServer((line) => (/^AUTH/i.test(line) ? `535 5.7.8 no: ${line} pa55w0rd9` : undefined));
    const [server, from, to] = [new URL(mail.url), "moor@example.org", ["me@example.org"]];
    const { notify } = await open({
      notify: [{ kind: "mail", server, from, to, user: "me", password: () => "pa55w0rd9" }],
    });
    notify(failing);
    await until(() => logged.some(({ msg }) => msg === "a notice could not be sent"));
    const sent = Buffer.from("\0me\0pa55w0rd9").toString("base64");
    expect(mail.text()).toContain(sent);
    expect(JSON.stringify(logged)).toMatch(/535 5\.7\.8 no: .*\(hidden\)/);
    expect(JSON.stringify(logged)).not.toMatch(/pa55w0rd|YTU1dzByZD/);
    await mail.close();
  });
});

describe("heartbeats", () => {
  test.each([
    ["healthchecks", "/ping/uuid", true, /^POST \/ping\/uuid$/],
    ["healthchecks", "/ping/uuid", false, /^POST \/ping\/uuid\/fail$/],
    ["healthchecks", "/ping/key/slug?create=1", true, /^POST \/ping\/key\/slug\?create=1$/],
    ["healthchecks", "/ping/key/slug?create=1", false, /^POST \/ping\/key\/slug\/fail\?create=1$/],
    ["uptime-kuma", "/push/x", true, /^GET \/push\/x\?status=up&msg=all%20records%20are%20up%20to%20date%20\(1\)$/],
    // The URL as Uptime Kuma shows it for copying.
    ["uptime-kuma", "/push/x?status=up&msg=OK&ping=", false, /^GET \/push\/x\?status=down&msg=[^&]+$/],
  ] as const)("%s at %s, all well: %s", async (kind, path, ok, expected) => {
    status = { ...status, names: status.names.map((name) => ({ ...name, ok })) };
    await open({ heartbeats: [{ kind, ...endpoint(path), every: 30 }] });
    await until(() => server.asked.length > 1);
    expect(`${server.asked[0]?.method} ${server.asked[0]?.path}`).toMatch(expected);
  });

  it("wait for the first round, and a lost one is reported once", async () => {
    status = { ...status, rounds: 0 };
    reply = () => ({ status: 500 });
    await open({ heartbeats: [{ kind: "healthchecks", ...endpoint(), every: 20 }] });
    await realPause(100, "several heartbeats would have been sent");
    expect(server.asked).toEqual([]);
    status = { ...status, rounds: 1 };
    await until(() => server.asked.length > 3 && logged.length > 0);
    expect(logged.map(({ msg }) => msg)).toEqual(["a heartbeat could not be sent"]);
    reply = () => ({});
    await until(() => logged.length === 2);
    expect(logged[1]?.msg).toBe("heartbeats are arriving again");
  });
});

/** Accepts everything, as far as RFC 5321 requires, and keeps what it receives. */
async function startMailServer(instead: (line: string) => string | undefined = () => undefined) {
  let text = "";
  const sockets = new Set<Socket>();
  const mailServer = createServer((socket) => {
    sockets.add(socket);
    let inData = false;
    socket.write("220 test\r\n");
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      text += String(chunk);
      for (const line of String(chunk).split("\r\n").slice(0, -1)) {
        const said = instead(line);
        if (said !== undefined) socket.write(`${said}\r\n`);
        else if (inData) {
          if (line !== ".") continue;
          inData = false;
          socket.write("250 kept\r\n");
        } else if (/^EHLO/i.test(line)) socket.write("250-test\r\n250 AUTH PLAIN\r\n");
        else if (/^DATA/i.test(line)) {
          inData = true;
          socket.write("354 go on\r\n");
        } else socket.write(/^STARTTLS/i.test(line) ? "502 not here\r\n" : "250 fine\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => mailServer.listen(0, "127.0.0.1", resolve));
  return {
    url: `smtp://127.0.0.1:${(mailServer.address() as AddressInfo).port}`,
    text: () => text,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        mailServer.close(() => resolve());
      }),
  };
}
