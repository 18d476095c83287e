import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { administer } from "../rig/moor.ts";
import { node } from "../rig/namespace.ts";
import { realPause } from "../rig/real-pause.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** A provider with a zone of ten thousand pages, each of which takes half a second. */
async function startSlowProvider() {
  const read = { pages: 0 };
  const zone = { id: 1, name: "slow.example", ttl: 300, mode: "primary", status: "ok", record_count: 10_000 };
  const set = { type: "A", ttl: 300, records: [{ value: "192.0.2.1" }] };
  const server = createServer(({ url = "" }, response) => {
    const isPage = url.includes("/rrsets");
    if (isPage) read.pages += 1;
    const { pages: page } = read;
    const last = isPage ? { next_page: page + 1, last_page: 10_000 } : { next_page: null, last_page: 1 };
    const meta = { pagination: { page, per_page: 1, previous_page: null, total_entries: 10_000, ...last } };
    const rrsets = [{ ...set, id: `h${page}/A`, name: `h${page}` }];
    const text = JSON.stringify({ ...(isPage ? { rrsets } : { zones: [zone], zone }), meta });
    response.setHeader("content-type", "application/json");
    void realPause(isPage ? 500 : 0, "the provider is slow").then(() => response.end(text));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return { read, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

test("a service that is stopped ends, although it still reads a zone at a slow provider", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moor-stopped-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [data, file] = [join(folder, "data"), join(folder, "token")];
  await administer(["token", "add", "--data", data, "--new", "--to", file]);
  await administer(["zone", "add", "slow.example", "--data", data]);
  const { read, url } = await startSlowProvider();
  const port = await freePort();
  const listen = ["--data", data, "--listen", `127.0.0.1:${port}`, "--plain-http"];
  const moor = startProcess([node, builtProgram(), "records", ...listen], {});
  await moor.says(/listens/);
  const path = `http://127.0.0.1:${port}/v1/zones/slow.example/publication/preview`;
  const headers = { authorization: `Bearer ${readFileSync(file, "utf8").trim()}`, "content-type": "application/json" };
  const account = { kind: "hetzner", token: "t".repeat(64), url };
  const body = JSON.stringify({ provider: "slow", account });
  const asked = fetch(path, { method: "POST", headers, body }).catch(() => undefined);
  await until(() => read.pages > 0);
  expect((await moor.stop()).code).toBe(0);
  await asked;
});
