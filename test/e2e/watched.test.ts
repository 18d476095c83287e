import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runMoor as runHere } from "../../src/cli/program.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { administer, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { patience, testLimit } from "../rig/patience.ts";
import { openRecordsApi } from "../rig/records-api.ts";
import type { StartedProcess } from "../rig/started-process.ts";

/** `moor records` for its operator: the metrics of all parts, and the shutdown. */

/** Seconds: long enough for requests during the drain, even on a busy machine. */
const drain = Math.min(20, testLimit / 4_000);

let inside: Namespace;
let folder: string;
let moor: StartedProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-watched-"));
  inside = await openNamespace();
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** In one process: several would be slow on a busy machine. */
const getAll = async (...urls: readonly string[]) => {
  const { out } = await inside.run([
    "curl",
    "-sk",
    "--max-time",
    String(patience / 1_000),
    "-w",
    "\n%{http_code}\f",
    ...urls,
  ]);
  return out.split("\f").map((each) => {
    const end = each.lastIndexOf("\n");
    return { status: Number(each.slice(end + 1)), body: each.slice(0, end) };
  });
};
const get = async (url: string) => (await getAll(url))[0] ?? { status: 0, body: "" };
const metric = async (sample: string) => {
  const { body } = await get("http://127.0.0.1:9054/metrics");
  return body
    .split("\n")
    .find((line) => line.startsWith(`${sample} `))
    ?.split(" ")[1];
};

describe("monitoring of moor records", () => {
  it("serves metrics of HTTP, the store, DNS and transfers on a separate listener", async () => {
    const [data, tokenFile] = [join(folder, "data"), join(folder, "token")];
    await administer(["token", "add", "--new", "--data", data, "--to", tokenFile]);
    const dns = ["--dns", "127.0.0.1:53", "--transfer-to", "127.0.0.1"];
    const watched = ["--metrics", "127.0.0.1:9054", "--drain", String(drain)];
    moor = startMoor(inside, ["records", "--data", data, "--listen", "127.0.0.1:8053", ...dns, ...watched]);
    await moor.says(/Metrics and health are at http:\/\/127\.0\.0\.1:9054\/metrics/);
    const records = { url: "https://127.0.0.1:8053", process: moor };
    const api = openRecordsApi(inside, { tokenFile, caFile: join(data, "ca.pem"), records }, folder);
    const zone = await api.makeZone("example.org");
    await api.makeRecord({ zone_id: zone, name: "www", type: "A", value: "192.0.2.1" });
    const dig = (...words: readonly string[]) => inside.run(["dig", "+short", "@127.0.0.1", ...words]);
    expect((await dig("www.example.org", "A")).out).toBe("192.0.2.1\n");
    await dig("gone.example.org", "A", "+tcp");
    await dig("elsewhere.example", "A");
    expect((await dig("example.org", "AXFR")).out).toContain("192.0.2.1");
    const samples = [
      ['moor_http_requests_total{method="POST",route="/api/v1/records",status="200"}', "1"],
      ['moor_dns_answers_total{transport="udp",rcode="NOERROR"}', "1"],
      ['moor_dns_answers_total{transport="udp",rcode="REFUSED"}', "1"],
      ['moor_dns_answers_total{transport="tcp",rcode="NXDOMAIN"}', "1"],
      ['moor_dns_transfers_total{direction="out",kind="axfr",result="done"}', "1"],
      ['moor_follower_lag_changes{follower="nameserver"}', "0"],
    ] as const;
    // Some are counted after the client has its answer.
    for (const [sample, value] of samples) await expect.poll(() => metric(sample), { interval: 200 }).toBe(value);
    expect(Number(await metric("moor_log_position"))).toBeGreaterThan(1);
    expect(await metric("moor_ready")).toBe("1");
    expect((await get("https://127.0.0.1:8053/metrics")).status).toBe(404);
  });

  it("is not ready as soon as it is stopped, and answers until it has drained", async () => {
    expect((await get("https://127.0.0.1:8053/health/ready")).status).toBe(200);
    const began = performance.now();
    process.kill(moor.pid, "SIGTERM");
    const service = ["/health/ready", "/health/live", "/api/v1/zones"].map((path) => `https://127.0.0.1:8053${path}`);
    const asked = () => getAll(...service, "http://127.0.0.1:9054/health/ready");
    let answers: Awaited<ReturnType<typeof asked>> = [];
    await expect
      .poll(
        async () => {
          answers = await asked();
          return answers[0]?.status;
        },
        { interval: 200 },
      )
      .toBe(503);
    expect(answers.slice(1, 3).map(({ status }) => status)).toEqual([200, 401]);
    const reasons = JSON.parse(answers[3]?.body ?? "") as unknown;
    expect(reasons).toMatchObject({ ready: false, parts: { running: { because: "the service is stopping" } } });
    expect((await moor.ended).code).toBe(0);
    expect(performance.now() - began).toBeGreaterThan((drain - 1) * 1_000);
  });

  it.each([
    [["--trust-proxy", "my-proxy"], /It must be a network/],
    [["--drain", "soon"], /It must be a number of seconds/],
    [["--proxy-header", "x-real-ip"], /Allowed choices are x-forwarded-for, forwarded/],
    [["--metrics", "9054"], /It must be a host and a port/],
  ])("says what is wrong with %j", async (words, expected) => {
    const { io, printed } = openTerminal(folder);
    expect(await runHere(["records", "--data", join(folder, "other"), ...words], io)).not.toBe(0);
    expect(printed.err).toMatch(expected);
  });

  it("warns that all callers count as one behind an untrusted proxy", async () => {
    const words = ["--data", join(folder, "plain"), "--listen", "127.0.0.1:8055", "--plain-http"];
    const plain = startMoor(inside, ["records", ...words]);
    await plain.says(/No proxy is trusted.*--trust-proxy NETWORK/);
    expect(moor.err()).not.toContain("No proxy is trusted");
    expect((await plain.stop()).code).toBe(0);
  });
});
