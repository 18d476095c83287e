import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { Agent, get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
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
let all: NewApiKey;
let narrow: NewApiKey;
let bare: NewApiKey;
let reads = 0;
let nextRead: () => Promise<readonly KernelRow[]>;

/** A report is reused for a fifth of a second: asks until one is read again, and returns that answer. */
async function readAfresh(): Promise<Awaited<ReturnType<typeof curl>>> {
  const before = reads;
  let got = await curl(here, ...user(all));
  const isNew = async () => {
    got = await curl(here, ...user(all));
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
  // Opens the file a second time, as `moor key add` does while the service runs.
  access = openAccess(keysFile(dataFolder));
  const now = new Date();
  all = access.keys.add({ name: "all", privileges: ["all"], now });
  narrow = access.keys.add({ name: "narrow", privileges: ["interface-status"], now });
  bare = access.keys.add({ name: "bare", privileges: [], now });
});

afterAll(async () => {
  access.close();
  await service.close();
});

type Got = { status: number; headers: Record<string, string>; body: string; ms: number };

async function curl(path: string, ...options: string[]): Promise<Got> {
  const before = performance.now();
  const { stdout } = await run("curl", [
    "-sS",
    "-i",
    "--path-as-is",
    "--cacert",
    service.caFile ?? "",
    ...options,
    service.url + path,
  ]);
  const ms = performance.now() - before;
  const end = stdout.indexOf("\r\n\r\n");
  const [first = "", ...lines] = stdout.slice(0, end).split("\r\n");
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")).toLowerCase(),
    line.slice(line.indexOf(":") + 2),
  ]);
  return { status: Number(first.split(" ")[1]), headers: Object.fromEntries(headers), body: stdout.slice(end + 4), ms };
}

/** Answered sooner than a delayed refusal could be; a busy machine may need a few tries. */
async function withoutDelay(ask: () => Promise<Got>): Promise<Got> {
  const got = [await ask()];
  while ((got.at(-1)?.ms ?? 0) > 1900 && got.length < 20) got.push(await ask());
  const quickest = got.reduce((a, b) => (a.ms < b.ms ? a : b));
  expect(quickest.ms).toBeLessThan(1900);
  return quickest;
}

/** Asks over an open connection, so that no handshake adds to the measured time. */
async function connectedAsker(): Promise<(key: NewApiKey) => Promise<number>> {
  const agent = new Agent({ keepAlive: true, ca: await readFile(service.caFile ?? "") });
  onTestFinished(() => agent.destroy());
  return ({ key, secret }) =>
    new Promise((resolve, reject) => {
      const asked = get({ ...service.address, agent, path: here, auth: `${key}:${secret}` }, (response) =>
        response.resume().once("end", () => resolve(response.statusCode ?? 0)),
      );
      asked.once("error", reject);
    });
}

const user = (key: NewApiKey) => ["--user", `${key.key}:${key.secret}`];
const withHeader = (text: string) => ["--header", text];
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
      expect(await curl(path, ...user(key))).toMatchObject({
        status: 200,
        body: whole,
        headers: { "content-type": json },
      });
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s with a key: 200, same body", async (method) => {
    expect(await curl(here, "-X", method, "--data", "", ...user(all))).toMatchObject({ status: 200, body: whole });
  });

  it("HEAD: 200, no body", async () => {
    const got = await curl(here, "--head", ...user(all));
    expect(got).toMatchObject({ status: 200, body: "", headers: { "content-length": String(whole.length) } });
  });

  it("POST over HTTP/1.1 without Content-Length: 411, a page", async () => {
    const got = await curl(here, "--http1.1", "-X", "POST", ...user(all));
    expect(got).toMatchObject({ status: 411, headers: { "content-type": expect.stringContaining("text/html") } });
  });

  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON"])(
    "GET with Content-Type: %s and no body: 400",
    async (type) => {
      const got = await curl(here, ...withHeader(`Content-Type: ${type}`), ...user(all));
      expect(got).toMatchObject({
        status: 400,
        body: '{"status":400,"message":"Invalid JSON syntax"}',
        headers: { "content-type": json },
      });
    },
  );

  it.each(["{}", "{broken", ""])("POST with the JSON body %j: 200", async (body) => {
    const got = await curl(here, ...withHeader("Content-Type: application/json"), "--data", body, ...user(all));
    expect(got).toMatchObject({ status: 200, body: whole });
  });

  it.each(["no such thing", 'text/html; charset="', "a/b/c"])("POST with the Content-Type %s: 200", async (type) => {
    const got = await curl(here, ...withHeader(`Content-Type: ${type}`), "--data", "x", ...user(all));
    expect(got).toMatchObject({ status: 200, body: whole });
  });

  it("Accept is ignored", async () => {
    const got = await curl(here, ...withHeader("Accept: text/html"), ...user(all));
    expect(got).toMatchObject({ status: 200, headers: { "content-type": json } });
  });
});

describe("answers", () => {
  it("right key and secret, allowed: 200, never cached", async () => {
    expect(await curl(here, ...user(narrow))).toMatchObject({
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
    expect(await curl(`${here}?x=1`)).toMatchObject({
      status: 401,
      body: failed,
      headers: { "content-type": json, "www-authenticate": 'Basic realm="moor"', location: `/?url=${here}` },
    });
  });

  it.each([
    ["empty", "Authorization;"],
    ["the scheme alone", "Authorization: Basic"],
    ["not base64", "Authorization: Basic ???"],
    ["no colon", `Authorization: Basic ${Buffer.from("nocolon").toString("base64")}`],
  ])("unusable header (%s): 401 immediately", async (_, header) => {
    const got = await withoutDelay(() => curl(here, ...withHeader(header)));
    expect(got).toMatchObject({ status: 401, body: failed, headers: { "content-type": json } });
    expect(got.headers).not.toHaveProperty("www-authenticate");
  });

  it("two spaces after the scheme: 401 immediately", async () => {
    const got = await withoutDelay(() => curl(here, ...withHeader(`Authorization: Basic  ${encoded(all)}`)));
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
    const ask = await connectedAsker();
    expect(await ask(all)).toBe(200);
    const before = logged.length;
    const refused = wrong.map(({ key, secret }) => curl(here, "--user", `${key}:${secret}`));
    await expect.poll(() => logged.slice(before).join("")).toContain("unknown key or wrong secret");
    expect(await Promise.race([ask(all), ...refused.map(async (got) => (await got).status)])).toBe(200);
    for (const got of await Promise.all(refused)) {
      expect(got).toMatchObject({ status: 401, body: failed, headers: { "content-type": json } });
      expect(got.ms).toBeGreaterThan(1900);
      expect(got.ms).toBeLessThan(60_000);
    }
  });

  it("right key, privilege lacking: 403, in every spelling", async () => {
    for (const path of [here, `${here}/`, "/api/DIAGNOSTICS/Interface/GET_interface_Config/x?y"])
      expect(await curl(path, ...user(bare))).toMatchObject({
        status: 403,
        body: '{"status":403,"message":"Forbidden"}',
        headers: { "content-type": json },
      });
  });

  it.each(["basic", "Bearer", "anything"])("the scheme word is not checked: %s", async (scheme) => {
    expect(await curl(here, ...withHeader(`Authorization: ${scheme} ${encoded(all)}`))).toMatchObject({ status: 200 });
  });

  it("parts after a second colon are ignored", async () => {
    const got = await curl(here, ...withHeader(`Authorization: Basic ${encoded(all, ":more")}`));
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
    expect(await curl(path)).toMatchObject(endpointNotFound);
    expect(await withoutDelay(() => curl(path, "--user", "unknown:key"))).toMatchObject(endpointNotFound);
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
    expect((await curl(here, ...user(all))).status).toBe(200);
  });

  it.each(["/api/", "/api"])("%s alone: 403, a page", async (path) => {
    expect(await curl(path, ...user(all))).toMatchObject({
      status: 403,
      headers: { "content-type": expect.stringContaining("text/html") },
    });
  });

  it("/ describes the service", async () => {
    expect(await curl("/")).toMatchObject({ status: 200, body: expect.stringContaining("moor firewall") });
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
    const words = ["-sS", "-Z", "--cacert", service.caFile ?? "", ...user(all), ...urls];
    const { stdout } = await run("curl", words, { maxBuffer: 1e8 });
    expect(stdout.split('{"flags"').length - 1).toBe(200);
    expect(reads - before).toBeLessThan(120);
  });

  async function raw(bytes: string): Promise<string> {
    const socket = connect({ ...service.address, ca: await readFile(service.caFile ?? ""), servername: "localhost" });
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
    expect((await curl(here, ...user(all))).status).toBe(200);
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
