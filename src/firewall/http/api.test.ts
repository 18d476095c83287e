import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../test/rig/until.ts";
import type { KernelRow } from "../../lib/kernel/row.ts";
import { createLog } from "../../process/log.ts";
import type { NewApiKey } from "../access/keys.ts";
import { type AccessStore, keysFile, openAccess } from "../access/store.ts";
import { phpJson } from "../report/php-json.ts";
import { reportOf } from "../report/report.ts";
import { type RunningFirewall, startFirewall } from "../start.ts";

const run = promisify(execFile);

const rows: readonly KernelRow[] = [
  {
    ifindex: 2,
    ifname: "wan/0",
    flags: ["UP", "LOWER_UP"],
    mtu: 1492,
    link_type: "ppp",
    addr_info: [
      {
        family: "inet",
        local: "203.0.113.7",
        address: "198.51.100.1",
        prefixlen: 32,
        valid_life_time: 4294967295,
        preferred_life_time: 4294967295,
      },
    ],
  },
];
const whole = phpJson(reportOf(rows));

let service: RunningFirewall;
let access: AccessStore;
let agent: Agent;
let all: NewApiKey;
let narrow: NewApiKey;
let bare: NewApiKey;
let reads = 0;
let nextRead: () => Promise<readonly KernelRow[]>;

/** A report is reused for a fifth of a second: asks until one is read again, and returns that answer. */
async function readAfresh(): Promise<Got> {
  const before = reads;
  let got = await ask(here, by(all));
  const isNew = async () => {
    got = await ask(here, by(all));
    return reads > before;
  };
  if (reads === before) await until(isNew, { what: () => "a report that is read again" });
  return got;
}
const logged: string[] = [];
const working = async () => rows;

beforeAll(async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), "moor-firewall-"));
  nextRead = working;
  service = await startFirewall({
    dataFolder,
    listen: { host: "127.0.0.1", port: 0 },
    log: createLog({ format: "json", write: (line) => logged.push(line) }),
    read: () => {
      reads += 1;
      return nextRead();
    },
  });
  agent = new Agent({ keepAlive: true, ca: await readFile(service.caFile ?? "") });
  // Opens the file a second time, as `moor key add` does while the service runs.
  access = openAccess(keysFile(dataFolder));
  const now = new Date();
  all = access.keys.add({ name: "all", privileges: ["all"], now });
  narrow = access.keys.add({ name: "narrow", privileges: ["interface-status"], now });
  bare = access.keys.add({ name: "bare", privileges: [], now });
});

afterAll(async () => {
  agent.destroy();
  access.close();
  await service.close();
});

type Got = { status: number; headers: Readonly<Record<string, unknown>>; body: string; ms: number };
type Wish = { method?: string; headers?: Record<string, string>; auth?: string; body?: string };

/** The path goes out as it is. */
async function ask(path: string, { method = "GET", headers = {}, auth, body }: Wish = {}): Promise<Got> {
  const before = performance.now();
  const sized = body === undefined ? headers : { "content-length": String(Buffer.byteLength(body)), ...headers };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request({ ...service.address, agent, path, method, headers: sized, auth: auth ?? null }, resolve);
  asked.once("error", reject).end(body);
  const answer = await promise;
  const text = await readText(answer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text, ms: performance.now() - before };
}

async function raw(bytes: string): Promise<string> {
  const socket = connect({ ...service.address, ca: agent.options.ca, servername: "localhost" });
  socket.setTimeout(20_000, () => socket.destroy());
  socket.end(bytes, "latin1");
  let text = "";
  try {
    for await (const chunk of socket) text += String(chunk);
  } catch {
    // A closed connection counts as an answer.
  }
  return text;
}

const host = "Host: localhost\r\nConnection: close\r\n";

/** Answered sooner than a delayed refusal could be; a busy machine may need a few tries. */
async function withoutDelay(ask: () => Promise<Got>): Promise<Got> {
  const got = [await ask()];
  while ((got.at(-1)?.ms ?? 0) > 1900 && got.length < 20) got.push(await ask());
  const quickest = got.reduce((a, b) => (a.ms < b.ms ? a : b));
  expect(quickest.ms).toBeLessThan(1900);
  return quickest;
}

const by = ({ key, secret }: Pick<NewApiKey, "key" | "secret">): Wish => ({ auth: `${key}:${secret}` });
const withAuthorization = (authorization: string): Wish => ({ headers: { authorization } });
const encoded = (key: NewApiKey, more = "") => Buffer.from(`${key.key}:${key.secret}${more}`).toString("base64");

const here = "/api/diagnostics/interface/getinterfaceconfig";
const json = "application/json; charset=UTF-8";
const failed = '{"status":401,"message":"Authentication Failed"}';

describe("URL rules and methods, with a valid key", () => {
  it.each([
    ["lower case", here],
    ["camel case", "/api/diagnostics/interface/getInterfaceConfig"],
    ["snake case", "/api/diagnostics/interface/get_interface_config"],
    ["upper case", "/api/diagnostics/interface/GETINTERFACECONFIG"],
    ["module in any case", "/api/DIAGNOSTICS/interface/getinterfaceconfig"],
    ["controller with a capital first letter", "/api/diagnostics/Interface/getinterfaceconfig"],
    ["trailing /", `${here}/`],
    ["doubled //", "/api//diagnostics/interface//getinterfaceconfig"],
    ["query string", `${here}?x=1`],
    ["extra segment: the full list", `${here}/igb0`],
  ])("%s: 200, identical", async (_, path) => {
    for (const key of [all, narrow])
      expect(await ask(path, by(key))).toMatchObject({
        status: 200,
        body: whole,
        headers: { "content-type": json },
      });
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s with a key: 200, same body", async (method) => {
    expect(await ask(here, { method, body: "", ...by(all) })).toMatchObject({ status: 200, body: whole });
  });

  it("HEAD: 200, no body", async () => {
    const got = await ask(here, { method: "HEAD", ...by(all) });
    expect(got).toMatchObject({ status: 200, body: "", headers: { "content-length": String(whole.length) } });
  });

  it("POST over HTTP/1.1 without Content-Length: 411, a page", async () => {
    const got = await raw(`POST ${here} HTTP/1.1\r\n${host}Authorization: Basic ${encoded(all)}\r\n\r\n`);
    expect(got).toMatch(/^HTTP\/1\.1 411 .*\r\ncontent-type: text\/html/is);
  });

  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON"])(
    "GET with Content-Type: %s and no body: 400",
    async (type) => {
      const got = await ask(here, { headers: { "content-type": type }, ...by(all) });
      expect(got).toMatchObject({
        status: 400,
        body: '{"status":400,"message":"Invalid JSON syntax"}',
        headers: { "content-type": json },
      });
    },
  );

  it.each(["{}", "{broken", ""])("POST with the JSON body %j: 200", async (body) => {
    const got = await ask(here, { method: "POST", headers: { "content-type": "application/json" }, body, ...by(all) });
    expect(got).toMatchObject({ status: 200, body: whole });
  });

  it.each(["no such thing", 'text/html; charset="', "a/b/c"])("POST with the Content-Type %s: 200", async (type) => {
    const got = await ask(here, { method: "POST", headers: { "content-type": type }, body: "x", ...by(all) });
    expect(got).toMatchObject({ status: 200, body: whole });
  });

  it("Accept is ignored", async () => {
    const got = await ask(here, { headers: { accept: "text/html" }, ...by(all) });
    expect(got).toMatchObject({ status: 200, headers: { "content-type": json } });
  });
});

describe("answers", () => {
  it("right key and secret, allowed: 200, never cached", async () => {
    expect(await ask(here, by(narrow))).toMatchObject({
      status: 200,
      body: whole,
      headers: {
        "content-type": json,
        expires: "Thu, 19 Nov 1981 08:52:00 GMT",
        "cache-control": "no-store, no-cache, must-revalidate",
        pragma: "no-cache",
      },
    });
  });

  it("no Authorization header: 401 with a challenge (decision 0003)", async () => {
    expect(await ask(`${here}?x=1`)).toMatchObject({
      status: 401,
      body: failed,
      headers: { "content-type": json, "www-authenticate": 'Basic realm="moor"', location: `/?url=${here}` },
    });
  });

  it.each([
    ["empty", ""],
    ["the scheme alone", "Basic"],
    ["not base64", "Basic ???"],
    ["no colon", `Basic ${Buffer.from("nocolon").toString("base64")}`],
  ])("unusable header (%s): 401 immediately", async (_, header) => {
    const got = await withoutDelay(() => ask(here, withAuthorization(header)));
    expect(got).toMatchObject({ status: 401, body: failed, headers: { "content-type": json } });
    expect(got.headers).not.toHaveProperty("www-authenticate");
  });

  it("two spaces after the scheme: 401 immediately", async () => {
    const got = await withoutDelay(() => ask(here, withAuthorization(`Basic  ${encoded(all)}`)));
    expect(got).toMatchObject({ status: 401, body: failed });
  });

  it("unknown key, wrong secret, revoked key, login name: 401 after 2 s, and a valid key is answered meanwhile", async () => {
    const revoked = access.keys.add({ name: "old", privileges: ["all"], now: new Date() });
    access.keys.revoke(revoked.key, new Date());
    const wrong = [
      { key: "unknown", secret: all.secret },
      { key: all.key, secret: narrow.secret },
      { key: all.key, secret: "" },
      revoked,
      { key: "root", secret: "opnsense" },
    ];
    expect((await ask(here, by(all))).status).toBe(200);
    const before = logged.length;
    const refused = wrong.map((key) => ask(here, by(key)));
    await expect.poll(() => logged.slice(before).join("")).toContain("unknown key or wrong secret");
    expect((await Promise.race([ask(here, by(all)), ...refused])).status).toBe(200);
    for (const got of await Promise.all(refused)) {
      expect(got).toMatchObject({ status: 401, body: failed, headers: { "content-type": json } });
      expect(got.ms).toBeGreaterThan(1900);
      expect(got.ms).toBeLessThan(60_000);
    }
  });

  it("right key, privilege lacking: 403, in every spelling", async () => {
    for (const path of [here, `${here}/`, "/api/DIAGNOSTICS/Interface/GET_interface_Config/x?y"])
      expect(await ask(path, by(bare))).toMatchObject({
        status: 403,
        body: '{"status":403,"message":"Forbidden"}',
        headers: { "content-type": json },
      });
  });

  it.each(["basic", "Bearer", "anything"])("the scheme word is not checked: %s", async (scheme) => {
    expect(await ask(here, withAuthorization(`${scheme} ${encoded(all)}`))).toMatchObject({ status: 200 });
  });

  it("parts after a second colon are ignored", async () => {
    const got = await ask(here, withAuthorization(`Basic ${encoded(all, ":more")}`));
    expect(got).toMatchObject({ status: 200, body: whole });
  });

  it.each([
    ["unknown module", "/api/diagnostic/interface/getinterfaceconfig"],
    ["unknown controller", "/api/diagnostics/INTERFACE/getinterfaceconfig"],
    ["unknown action", "/api/diagnostics/interface/getinterface"],
    ["a required part missing", "/api/diagnostics/interface"],
    ["outside of the API", "/index.php"],
    ["dot segments", "/api/x/../diagnostics/interface/getinterfaceconfig"],
    ["encoded slash", "/api/diagnostics%2Finterface/getinterfaceconfig"],
    ["encoded dots", `${here}/%2e%2e/x`],
  ])("%s: 404 before authentication", async (_, path) => {
    const endpointNotFound = {
      status: 404,
      body: '{"errorMessage":"Endpoint not found"}',
      headers: { "content-type": "application/json;charset=utf-8" },
    };
    expect(await ask(path)).toMatchObject(endpointNotFound);
    expect(await withoutDelay(() => ask(path, { auth: "unknown:key" }))).toMatchObject(endpointNotFound);
  });

  it("exception in an action: 500, and the log says why", async () => {
    nextRead = async () => {
      throw new Error("netlink is out of order");
    };
    const got = await readAfresh();
    nextRead = working;
    expect(got).toMatchObject({
      status: 500,
      body: '{"errorMessage":"Unexpected error, check log for details"}',
      headers: { "content-type": "application/json;charset=utf-8" },
    });
    expect(logged.some((line) => line.includes("netlink is out of order"))).toBe(true);
    expect((await ask(here, by(all))).status).toBe(200);
  });

  it.each(["/api/", "/api"])("%s alone: 403, a page", async (path) => {
    expect(await ask(path, by(all))).toMatchObject({
      status: 403,
      headers: { "content-type": expect.stringContaining("text/html") },
    });
  });

  it("/ describes the service", async () => {
    expect(await ask("/")).toMatchObject({ status: 200, body: expect.stringContaining("moor firewall") });
  });

  it("an empty report is an array", async () => {
    nextRead = async () => [];
    const got = await readAfresh();
    nextRead = working;
    expect(got).toMatchObject({ status: 200, body: "[]" });
  });

  it("no secret is ever logged", () => {
    const text = logged.join("");
    for (const key of [all, narrow, bare]) expect(text).not.toContain(key.secret);
    expect(text).toContain("unknown key or wrong secret");
  });
});

describe("load and bad input", () => {
  it("many callers share few reads", async () => {
    await readAfresh();
    const before = reads;
    const urls = Array.from({ length: 200 }, () => service.url + here);
    const words = ["-sS", "-Z", "--cacert", service.caFile ?? "", "--user", `${all.key}:${all.secret}`, ...urls];
    const { stdout } = await run("curl", words, { maxBuffer: 1e8 });
    expect(stdout.split('{"flags"').length - 1).toBe(200);
    expect(reads - before).toBeLessThan(120);
  });

  it.each([
    ["not HTTP", "hello\r\n\r\n", /^HTTP\/1\.1 400 |^$/],
    ["oversized headers", `GET ${here} HTTP/1.1\r\n${host}X: ${"x".repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 431 |^$/],
    ["a very long path", `GET /${"a".repeat(12_000)} HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 404 /],
    [
      "an oversized Authorization",
      `GET ${here} HTTP/1.1\r\n${host}Authorization: Basic ${"A".repeat(12_000)}\r\n\r\n`,
      /^HTTP\/1\.1 401 /,
    ],
    ["bytes outside ASCII in the path", `GET /api/\xe4/\xff/x HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 40[04] /],
    ["a broken percent sign", `GET /api/%zz/%/x HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 40[04] /],
    ["asterisk form", `OPTIONS * HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 404 /],
    ["whole URL", `GET https://localhost${here} HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 401 /],
    ["an unknown method", `PROPFIND ${here} HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 401 /],
    [
      "two Authorization headers",
      `GET ${here} HTTP/1.1\r\n${host}Authorization: a\r\nAuthorization: b\r\n\r\n`,
      /^HTTP\/1\.1 401 /,
    ],
    ["a body on GET", `GET ${here} HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`, /^HTTP\/1\.1 401 /],
    ["a body cut short", `POST ${here} HTTP/1.1\r\n${host}Content-Length: 300\r\n\r\nabc`, /^HTTP\/1\.1 40[01] |^$/],
    ["CONNECT", `CONNECT localhost:22 HTTP/1.1\r\n${host}\r\n`, /^$|^HTTP\/1\.1 4/],
  ])("%s", async (_, bytes, answer) => {
    expect((await raw(bytes)).split("\r\n")[0]).toMatch(answer);
    expect((await ask(here, by(all))).status).toBe(200);
  });

  it("closes quickly although refusals are still delayed", async () => {
    const said: string[] = [];
    const other = await startFirewall({
      dataFolder: await mkdtemp(join(tmpdir(), "moor-firewall-")),
      listen: { host: "127.0.0.1", port: 0 },
      log: createLog({ format: "json", write: (line) => said.push(line) }),
      read: working,
    });
    // The last of eight is delayed by sixteen seconds.
    const words = ["-sS", "-Z", "--fail-early", "--cacert", other.caFile ?? "", "--user", "a:b"];
    const refused = Promise.allSettled([run("curl", [...words, ...Array<string>(8).fill(other.url + here)])]);
    await expect.poll(() => said.join("")).toContain('"failures":8');
    await other.close();
    expect(await refused).toMatchObject([{ status: "rejected" }]);
    expect(said.join("")).not.toContain("could not be closed");
  });
});
