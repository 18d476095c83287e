import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { startServer } from "../../../test/rig/updater/services.ts";
import { createHttpClient } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";

const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] as const;
const before = names.map((name) => process.env[name]);
afterEach(() => {
  for (const [i, name] of names.entries()) {
    if (before[i] === undefined) delete process.env[name];
    else process.env[name] = before[i];
  }
});

async function get(url: string, more: Partial<Endpoint> = {}): Promise<string> {
  const client = await createHttpClient({ url: new URL(url), trust: { kind: "system" }, ...more });
  const outcome = await client.send({ method: "GET", path: "/x", headers: {} }, new AbortController().signal);
  client.close();
  return outcome.kind === "answer" ? outcome.body : `${outcome.because}; ${outcome.todo}`;
}

it("asks through the proxy of the environment, except where NO_PROXY or the purpose says otherwise", async () => {
  const proxy = createServer((request, response) => response.end(`the proxy got ${request.url}`));
  proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  await new Promise<void>((done) => void proxy.listen(0, "127.0.0.1", done));
  const own = await startServer(() => ({ body: "direct" }));
  process.env.NO_PROXY = "";
  process.env.HTTP_PROXY = `http://user:hidden@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  process.env.HTTPS_PROXY = process.env.HTTP_PROXY;
  expect(await get("http://dns.test")).toBe("the proxy got http://dns.test/x");
  expect(await get("https://dns.test")).toBe(
    "the proxy of HTTPS_PROXY opens no connection to dns.test: 403 Forbidden; check what the proxy allows, or add the host to NO_PROXY",
  );
  // What sees the caller's address would see the proxy's.
  expect(await get(own.url, { family: "ipv4" })).toMatch(/direct/);
  process.env.NO_PROXY = "127.0.0.1";
  expect(await get(own.url)).toMatch(/direct/);
  await own.close();
  await new Promise((done) => proxy.close(done));
  expect(await get("https://dns.test")).toMatch(
    /^nothing is listening at the proxy through which dns\.test is asked; /,
  );
});
