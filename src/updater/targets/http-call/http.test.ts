import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { openConfigured } from "../../../../test/rig/updater/configured-target.ts";
import { type Asked, type Reply, startServer, type TestServer } from "../../../../test/rig/updater/services.ts";
import { readConfig } from "../../read-config.ts";
import type { RecordTarget, ReplaceRequest } from "../target.ts";
import { matches } from "./match.ts";

const never = new AbortController().signal;
const request: ReplaceRequest = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };
const key = "k3y/with signs & 密码";

let server: TestServer;
let says: (asked: Asked) => Reply;
let target: RecordTarget | undefined;
beforeEach(async () => {
  says = () => ({ body: "OK" });
  server = await startServer((asked) => says(asked));
});
afterEach(async () => {
  target?.close();
  await server.close();
});

async function replace(settings: string, more: Partial<ReplaceRequest> = {}) {
  target?.close();
  target = await openConfigured("http", `${settings.replaceAll("URL", server.url)}, done: { line: OK }`, { key });
  return target.replace({ ...request, ...more }, never);
}
const sent = () => server.asked.map(({ method, path, body }) => [method, path, body].filter((each) => each !== ""));

describe("the request", () => {
  it("has the placeholders in its path and query, encoded", async () => {
    const url = 'url: "URL/{zone}/{label}?host={name}&ip={address}&t={type}&f={family}&key={key}"';
    expect(await replace(`${url}, secrets: { key: { file: key } }`)).toMatchObject({ kind: "done" });
    expect(sent()).toEqual([
      ["GET", `/example.org/home?host=home.example.org&ip=9.9.9.9&t=A&f=ipv4&key=${encodeURIComponent(key)}`],
    ]);
  });

  it("leaves out the parameter of an address that is not sent", async () => {
    const url = 'url: "URL/u?a={ipv4}&aaaa={ipv6}&n={name}"';
    await replace(url, { otherAddress: "2001:db8::1" });
    await replace(url, { family: "ipv6", value: "2001:db8::2" });
    expect(sent().map(([, path]) => path)).toEqual([
      "/u?a=9.9.9.9&n=home.example.org",
      "/u?aaaa=2001:db8::2&n=home.example.org",
    ]);
  });

  it("has both addresses if the service takes them together, and one if the other is not known", async () => {
    const url = 'url: "URL/u?a={ipv4}&aaaa={ipv6}&all={addresses}", families: together';
    await replace(url, { otherAddress: "2001:db8::1" });
    await replace(url);
    expect(sent().map(([, path]) => path)).toEqual([
      "/u?a=9.9.9.9&aaaa=2001:db8::1&all=9.9.9.9,2001:db8::1",
      "/u?a=9.9.9.9&all=9.9.9.9",
    ]);
  });

  test.each([
    ["ddnss", "user: me, password: { file: key }", ["ip=9.9.9.9", "ip6=2001:db8::1"]],
    ["duckdns", "token: { file: key }", ["ip=9.9.9.9", "ipv6=2001:db8::1"]],
    ["dynv6", "token: { file: key }", ["ipv4=9.9.9.9", "ipv6=2001:db8::1"]],
    ["njalla", "token: { file: key }", ["a=9.9.9.9", "aaaa=2001:db8::1"]],
    ["regfish", "token: { file: key }", ["ipv4=9.9.9.9", "ipv6=2001:db8::1"]],
  ])("has both addresses for %s, which has a parameter for each family", async (api, settings, both) => {
    target = await openConfigured(api, `url: "${server.url}", ${settings}`, { key });
    await target.replace({ ...request, otherAddress: "2001:db8::1" }, never);
    expect(server.asked[0]?.path.split(/[?&]/)).toEqual(expect.arrayContaining(both));
  });

  it("has headers and a JSON body, in which a value cannot end its string", async () => {
    const settings = `url: "URL/x", method: POST, headers: { X-Type: "{type}" }, body: '{"ip":"{address}","key":"{key}"}'`;
    const quoted = 'a"b\\c';
    target = await openConfigured(
      "http",
      `${settings.replaceAll("URL", server.url)}, secrets: { key: { file: key } }, done: { line: OK }`,
      { key: quoted },
    );
    await target.replace(request, never);
    expect(JSON.parse(server.asked[0]?.body ?? "")).toEqual({ ip: "9.9.9.9", key: quoted });
    expect(server.asked[0]?.headers).toMatchObject({ "x-type": "A", "content-type": "application/json" });
  });

  it("has Basic authentication and a form", async () => {
    await replace('url: "URL/x", method: POST, body: "ip={address}&v6={ipv6}", user: me, password: { file: key }');
    expect(server.asked[0]).toMatchObject({
      body: "ip=9.9.9.9",
      headers: {
        authorization: `Basic ${Buffer.from(`me:${key}`).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
      },
    });
  });
});

describe("the answer", () => {
  const rules = `unchanged: { line: SAME }, refused: [{ json: { error: "*" } }, { text: "no host", means: name }, { line: KO, means: credentials }, { text: slowly, means: rate }]`;
  const url = 'url: "URL/?ip={address}&key={key}", secrets: { key: { file: key } }';

  test.each<[string, Reply, object]>([
    ["done", { body: "OK\n" }, { kind: "done" }],
    ["already there", { body: "SAME" }, { kind: "done", already: true }],
    ["a refusal with an error status", { status: 422, body: { error: "bad" } }, { kind: "refused" }],
    [
      "a wrong credential",
      { body: "KO" },
      { kind: "refused", fault: { kind: "unauthorised", because: "127.0.0.1 denied access (200: KO)" } },
    ],
    ["a missing name", { body: "no host" }, { kind: "refused", fault: { kind: "missing" } }],
    ["too many requests", { body: "slowly" }, { kind: "refused", fault: { kind: "later", throttled: true } }],
    ["another text", { body: "TOKEN" }, { kind: "unknown" }],
    ["a server error in the format of a refusal", { status: 503, body: { error: "x" } }, { kind: "unknown" }],
    ["401 without a known text", { status: 401, body: "who?" }, { kind: "unknown" }],
    ["success with another status", { status: 302, body: "OK" }, { kind: "unknown" }],
    ["a web page", { body: "<html>OK</html>" }, { kind: "unknown" }],
    ["nothing", { body: "" }, { kind: "unknown" }],
    ["a broken connection", { fault: "reset" }, { kind: "unknown" }],
  ])("%s", async (_, reply, expected) => {
    says = () => reply;
    expect(await replace(`${url}, ${rules}`)).toMatchObject(expected);
  });

  test.each<[string, string, Reply]>([
    ["freemyip", "text/html; charset=utf-8", { body: "Please sign in:\n<p>\nOK\n</p>" }],
    ["freemyip", "text/html", { body: "<html>\nERROR\n</html>" }],
    ["duckdns", "text/html", { status: 404, body: "<h2>HTTP ERROR 404</h2>\nKO\n" }],
    ["myaddr", "text/html", { body: "Sign in <b>here</b>" }],
  ])("%s never answers with a page (%s)", async (api, type, reply) => {
    says = () => ({ ...reply, headers: { "content-type": type } });
    target = await openConfigured(api, `url: "${server.url}", token: { file: key }`, { key });
    expect(await target.replace(request, never)).toMatchObject({ kind: "unknown" });
  });

  it("of a plain word counts also if its type is that of a page, as PHP sends it", async () => {
    says = () => ({ body: "OK", headers: { "content-type": "text/html; charset=UTF-8" } });
    target = await openConfigured("freemyip", `url: "${server.url}", token: { file: key }`, { key });
    expect(await target.replace(request, never)).toMatchObject({ kind: "done" });
  });

  it.each(["OK?", "KO", "no host", "what"])("never shows a secret that the service repeats (%s)", async (word) => {
    says = ({ path }) => ({ body: `${word} ${path} ${key} ${Buffer.from(key).toString("base64")}` });
    const shown = JSON.stringify(await replace(`${url}, ${rules}`));
    for (const secret of [key, encodeURIComponent(key), Buffer.from(key).toString("base64").slice(0, -4)])
      expect(shown).not.toContain(secret);
  });

  it("counts only after DNS shows it, with readBack", async () => {
    const stop = new AbortController();
    const silent = createSocket("udp4").on("message", () => stop.abort());
    await new Promise<void>((resolve) => silent.bind(0, "127.0.0.1", resolve));
    const settings = `${url.replaceAll("URL", server.url)}, done: { line: OK }, readBack: true, dns: ["127.0.0.1:${silent.address().port}"]`;
    target = await openConfigured("http", settings, { key });
    const outcome = await target.replace(request, stop.signal);
    silent.close();
    expect(outcome).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
  });
});

test.each<[string, string, boolean]>([
  ["OK", "TOKEN", false],
  ["OK", "all OK.", true],
  ["192.0.2.1", "set to 192.0.2.10", false],
  ["192.0.2.1", "set to 192.0.2.1.", true],
  ["192.0.2.1", "192.0.2.1.5", false],
  ["2001:db8::1", "at 2001:db8::1:2", false],
  ["2001:db8::1", "<b>2001:db8::1</b>", true],
])("%j in %j: %j", (text, body, isThere) => expect(matches({ text }, { status: 200, body }, {})).toBe(isThere));

describe("the config", () => {
  const faults = (settings: string) => {
    const folder = mkdtempSync(join(tmpdir(), "moor-http-"));
    writeFileSync(join(folder, "k"), "key=k\nsecret=s\n", { mode: 0o600 });
    writeFileSync(
      join(folder, "moor.yaml"),
      `sources: { home: { url: "http://127.0.0.1:1", keyFile: k } }\ntargets: { dns: { api: http, ${settings} } }\nnames: [{ name: home, zone: example.org, ipv4: wan0 }]\n`,
    );
    const read = readConfig("moor.yaml", { KEY: "0123456789" }, folder);
    rmSync(folder, { recursive: true });
    return read.ok ? [] : read.faults.map(({ code }) => code);
  };
  const done = "done: { line: OK }";

  test.each<[string, readonly string[]]>([
    [`url: "https://x.test/?ip={address}", ${done}`, []],
    [`url: "https://x.test/?ip={address}"`, ["missing"]],
    [`url: "https://x.test/?ip={adress}", ${done}`, ["bad-placeholder"]],
    [`url: "https://x.test/?host={name}", ${done}`, ["no-address"]],
    [`url: "http://x.test/?ip={address}", ${done}`, ["bad-url"]],
    [`url: "https://x.test/?token=0123456789&ip={address}", ${done}`, ["secret-in-config"]],
    [`url: "https://x.test/?ip={address}", secrets: { key: "0123456789" }, ${done}`, ["secret-in-config"]],
    [`url: "https://x.test/?ip={address}", secrets: { name: { env: KEY } }, ${done}`, ["bad-placeholder"]],
    [`url: "https://x.test/?ip={address}", user: me, ${done}`, ["missing"]],
  ])("%s", (settings, codes) => expect(faults(settings)).toEqual(codes));
});
