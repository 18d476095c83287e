import { join } from "node:path";
import { connect } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { NewApiKey } from "../../src/firewall/access/keys.ts";
import { isLongRun } from "../rig/long-run.ts";
import { startProcess } from "../rig/started-process.ts";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig;
let good: NewApiKey;
const floodProgram = join(import.meta.dirname, "flood-process.ts");
const report = "/api/diagnostics/interface/getinterfaceconfig";

beforeAll(async () => {
  rig = await openRig({ read: async () => [{ ifname: "eth0", flags: ["UP"], addr_info: [] }] });
  good = rig.key("good", ["interface-status"]);
});
afterAll(() => rig.close());

const socket = () => {
  const opened = connect({ ...rig.service.address, ca: rig.ca, servername: "localhost" });
  opened.on("error", () => undefined);
  return opened;
};

/** The median of the quietest of ten parts, in which the machine was least busy. */
function quietestMedian(times: readonly number[]): number {
  const size = Math.ceil(times.length / 10);
  const parts = Array.from({ length: Math.ceil(times.length / size) }, (_, at) =>
    times.slice(at * size, (at + 1) * size).toSorted((a, b) => a - b),
  );
  return Math.min(...parts.map((part) => part[part.length >> 1] ?? Number.NaN));
}

/** Megabytes in use after garbage collection. */
function memory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1024 / 1024;
}

/**
 * Only a long run has enough of them to show memory: growth of 2 kB each would fail. failure-delay.test.ts counts what
 * is kept about them.
 */
const badLogins = isLongRun ? 10_000 : 300;

describe(`${badLogins} bad logins`, () => {
  it("are few lines in the log, cost no memory, and do not delay a valid key from the same address", async () => {
    const { port } = rig.service.address;
    const flood = startProcess([process.execPath, floodProgram, String(port), rig.service.caFile ?? "", "150"], {});
    onTestFinished(async () => void (await flood.stop("SIGKILL")));
    const refused = () => Number(flood.out().trim().split("\n").at(-1));
    const times: number[] = [];
    const askUntil = async (count: number) => {
      while (refused() < count) times.push((await rig.ask(report, { key: good })).ms);
    };
    await askUntil(200);
    const before = isLongRun ? memory() : 0;
    await askUntil(200 + badLogins);
    const grown = isLongRun ? memory() - before : 0;
    expect(times.length).toBeGreaterThan(20);
    // A wrong key is delayed by two seconds.
    expect(quietestMedian(times)).toBeLessThan(1_000);
    expect(grown).toBeLessThan(20);
    expect(rig.logged.filter((line) => line.includes("wrong secret")).length).toBeLessThan(20);
  });
});

describe("100 slow connections", () => {
  it("delay nobody", async () => {
    const slow = Array.from({ length: 100 }, () => socket());
    for (const each of slow)
      each.once("secureConnect", () => each.write(`GET ${report} HTTP/1.1\r\nHost: x\r\nX-Slow: `));
    await Promise.all(slow.map((each) => new Promise((resolve) => each.once("secureConnect", resolve))));
    const times = [];
    for (let count = 0; count < 20; count++) times.push((await rig.ask(report, { key: good })).ms);
    expect(quietestMedian(times)).toBeLessThan(2_000);
    for (const each of slow) each.destroy();
  });
});

describe("a broken or odd request is refused or dropped, and the next good one is answered", () => {
  const sent = (bytes: string) =>
    new Promise<string>((resolve) => {
      const opened = socket();
      let text = "";
      opened.setTimeout(20_000, () => opened.destroy());
      opened.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
      });
      opened.once("close", () => resolve(text.split("\r\n")[0] ?? ""));
      opened.once("secureConnect", () => opened.end(bytes, "latin1"));
    });
  const head = "Host: x\r\nConnection: close\r\n";
  it.each([
    [
      "a NUL in Authorization",
      `GET ${report} HTTP/1.1\r\n${head}Authorization: Basic \0\r\n\r\n`,
      /^HTTP\/1\.1 40[01] |^$/,
    ],
    [
      "latin-1 in Authorization",
      `GET ${report} HTTP/1.1\r\n${head}Authorization: Basic \xff\xfe\r\n\r\n`,
      /^HTTP\/1\.1 401 /,
    ],
    [
      "Authorization over two lines",
      `GET ${report} HTTP/1.1\r\n${head}Authorization: Basic\r\n eA==\r\n\r\n`,
      /^HTTP\/1\.1 40[01] |^$/,
    ],
    ["500 headers", `GET ${report} HTTP/1.1\r\n${head}${"A: b\r\n".repeat(500)}\r\n`, /^HTTP\/1\.1 401 /],
    [
      "too many bytes of headers",
      `GET ${report} HTTP/1.1\r\n${head}${"A: b\r\n".repeat(9_000)}\r\n`,
      /^HTTP\/1\.1 431 |^$/,
    ],
    [
      "two lengths",
      `POST ${report} HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      /^HTTP\/1\.1 400 |^$/,
    ],
    [
      "a length and chunks",
      `POST ${report} HTTP/1.1\r\n${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 |^$/,
    ],
    [
      "broken chunks",
      `POST ${report} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      /^HTTP\/1\.1 40[01] |^$/,
    ],
    ["no Host", `GET ${report} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ["HTTP/0.9", `GET ${report}\r\n\r\n`, /^HTTP\/1\.1 40[01] |^$/],
    ["HTTP/1.0", `GET ${report} HTTP/1.0\r\n\r\n`, /^HTTP\/1\.1 401 /],
    ["a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 400 |^$/],
    [
      "an upgrade",
      `GET ${report} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      /^HTTP\/1\.1 401 |^$/,
    ],
    ["dots above the root", `GET /../../etc/passwd HTTP/1.1\r\n${head}\r\n`, /^HTTP\/1\.1 404 /],
    ["encoded slashes", `GET /api%2fdiagnostics%2finterface HTTP/1.1\r\n${head}\r\n`, /^HTTP\/1\.1 404 /],
    ["a thousand slashes", `GET ${"/".repeat(1_000)}api/x HTTP/1.1\r\n${head}\r\n`, /^HTTP\/1\.1 404 /],
    ["__proto__ as a name", `GET /api/__proto__/constructor/toString HTTP/1.1\r\n${head}\r\n`, /^HTTP\/1\.1 404 /],
  ])("%s", async (_, bytes, answer) => {
    expect(await sent(bytes)).toMatch(answer);
    expect((await rig.ask(report, { key: good })).status).toBe(200);
    expect(rig.logged.filter((line) => line.includes("call failed"))).toEqual([]);
  });
});
