import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as ask } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { type OpenControl, openControl } from "../../../test/rig/updater/control.ts";
import { createLog, noLog } from "../../process/log.ts";
import type { Status } from "../report/status.ts";
import { createControl } from "./control.ts";
import { createPageListener, type PageListener } from "./listener.ts";
import { openPageSignIn } from "./sign-in.ts";

let status: Status;
let checks: number;
let silence: number;
/** Shared, because making its certificate takes a while. */
const folder = mkdtempSync(join(tmpdir(), "moor-control-"));
beforeEach(() => {
  [checks, silence] = [0, 0];
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
afterAll(() => rmSync(folder, { recursive: true }));

const check = () => {
  checks += 1;
};
const tools = () => ({
  of: { file: "/etc/moor/moor.yaml", stateFile: join(folder, "moor-state.json") },
  status: () => status,
  check,
  silence: () => silence,
});

describe("the control port on loopback", () => {
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(control.url + path, init);
    return { status: response.status, body: await response.text() };
  };
  let control: OpenControl;
  beforeEach(async () => {
    control = await openControl(tools());
  });
  afterEach(() => control.close());

  it("answers /status as JSON and /metrics for Prometheus", async () => {
    expect(JSON.parse((await ask("/status")).body)).toMatchObject({
      config: "/etc/moor/moor.yaml",
      stateFile: join(folder, "moor-state.json"),
      rounds: 1,
      names: [{ ok: true }],
    });
    const { body } = await ask("/metrics");
    expect(body).toMatch(/^# TYPE moor_update_changes_total counter\nmoor_update_changes_total 3$/m);
    expect(body).toMatch(/^moor_update_name_ok\{name="ho\\"me\.example\.org A"\} 1$/m);
    expect(body).toMatch(/^moor_update_source_up\{source="home",how="events"\} 1$/m);
  });

  it("reports whether it is live and whether it is ready", async () => {
    expect((await ask("/health/live")).status).toBe(200);
    expect((await ask("/health/ready")).status).toBe(200);
    silence = 21 * 60_000;
    status = { ...status, sources: [{ source: "home", called: "firewall", up: false, how: "polling" }] };
    expect((await ask("/health/live")).status).toBe(503);
    expect((await ask("/health/ready")).status).toBe(503);
  });

  test.each([
    ["refuses POST /check without a token", {}, 401, 0],
    ["refuses POST /check with a wrong token", { authorization: "Bearer nope" }, 401, 0],
    ["starts a round on POST /check with the right token", { authorization: "Bearer tok" }, 202, 1],
  ])("%s", async (_, headers, expected, count) => {
    expect((await ask("/check", { method: "POST", headers })).status).toBe(expected);
    expect(checks).toBe(count);
  });

  it("refuses what a page in a browser could send", async () => {
    expect((await ask("/check")).status).toBe(405);
    expect((await ask("/status", { method: "POST" })).status).toBe(405);
    expect((await ask("/nothing")).status).toBe(404);
    const raw = await sendRaw(control.port, "GET /status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    expect(raw).toMatch(/^HTTP\/1\.1 403/);
  });
});

async function sendRaw(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request);
  return text(socket);
}

describe("the control port with a password", () => {
  let control: OpenControl;
  const password = "a ship in the harbour";
  const signIn = openPageSignIn({ log: noLog, now: Date.now });
  beforeEach(async () => {
    await signIn.setPassword(password);
    control = await openControl({ ...tools(), signIn }, { password: () => password });
  });
  afterEach(() => control.close());

  type Asked = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: unknown };
  const send = ({ method = "GET", headers = {}, body }: Asked, path: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string; cookie: string }>();
    const ca = readFileSync(join(folder, "ca.pem"));
    const sent = ask(`${control.url}${path}`, {
      method,
      headers: { origin: control.url, ...headers },
      ca,
      agent: false,
    });
    sent.once("error", reject).once("response", (response) => {
      const cookie = response.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
      void text(response).then((said) => resolve({ status: response.statusCode ?? 0, body: said, cookie }), reject);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  };
  const enter = (typed: string) => send({ method: "POST", body: { name: "", password: typed } }, "/console/sign-in");

  it("speaks HTTPS, with a certificate of the private authority next to the state file", async () => {
    expect(control.url).toMatch(/^https:/);
    expect((await send({}, "/health/live")).status).toBe(200);
  });

  it("shows the names only to programs with the token and people with a session", async () => {
    const { cookie } = await enter(password);
    for (const path of ["/status", "/metrics"]) {
      expect([path, (await send({}, path)).status]).toEqual([path, 401]);
      expect([path, (await send({ headers: { authorization: "Bearer tok" } }, path)).status]).toEqual([path, 200]);
      expect([path, (await send({ headers: { cookie } }, path)).status]).toEqual([path, 200]);
    }
    status = { ...status, names: status.names.map((name) => ({ ...name, ok: false })) };
    expect((await send({}, "/health/ready")).body).not.toContain("example.org");
  });

  it("refuses a wrong password, and after five of them every password for a while", async () => {
    for (let guess = 0; guess < 5; guess++) expect((await enter("a ship in the sky")).status).toBe(401);
    expect((await enter(password)).status).toBe(429);
  });

  it("ends all sessions when the password is changed, and only then", async () => {
    const fresh = openPageSignIn({ log: noLog, now: Date.now });
    await fresh.setPassword("one good password");
    const headers = { origin: "https://moor.example", host: "moor.example" };
    const body = JSON.stringify({ name: "", password: "one good password" });
    const entered = await fresh.answer({ method: "POST", path: "/console/sign-in", headers, body, from: "" });
    const cookie = entered?.headers["set-cookie"]?.split(";", 1)[0] ?? "";
    const admits = () => fresh.admit({ method: "GET", path: "/", headers: { cookie }, body: "", from: "" });
    await fresh.setPassword("one good password");
    expect(await admits()).toBe("session");
    await fresh.setPassword("another good password");
    expect(await admits()).toBe("none");
  });
});

describe("the listener", () => {
  const logged: Record<string, unknown>[] = [];
  const log = createLog({ format: "json", write: (line) => void logged.push(JSON.parse(line)) });
  const config = (port: number) => ({
    control: { host: "127.0.0.1", port, token: () => "tok" },
    stateFile: join(folder, "moor-state.json"),
  });
  let listener: PageListener;
  beforeEach(() => {
    logged.length = 0;
    listener = createPageListener(log);
  });
  afterEach(() => listener.close());
  const say = (word: string) => async () => ({ status: 200, body: word });

  it("stays open for a config with the same address, gives the new answers, and logs the URL of the page once", async () => {
    const { control } = config(0);
    const url = (await listener.serve(config(0), say("old"))) ?? "";
    expect(await listener.serve({ ...config(0), control: { ...control, token: () => "new" } }, say("new"))).toBe(url);
    expect(await (await fetch(url)).text()).toBe("new");
    expect(logged).toMatchObject([{ page: `${url}/` }]);
    await listener.serve({ stateFile: "" }, say("none"));
    await expect(fetch(url)).rejects.toThrow();
  });

  it("logs a warning when the port is taken", async () => {
    const { url, port, close } = await openControl(tools());
    expect(await listener.serve(config(port), createControl({ token: () => "" }, tools()))).toBeUndefined();
    expect(logged.at(-1)).toMatchObject({
      msg: "the status page is unavailable",
      because: expect.stringMatching(
        /^port \d+ on 127\.0\.0\.1 is in use .* choose another port with control: listen: HOST:PORT$/,
      ),
    });
    expect(url).toContain(String(port));
    await close();
  });
});
