import { afterAll, beforeAll, expect, it, test } from "vitest";
import { makeCertificate } from "../../../../test/rig/updater/certificates.ts";
import { type Reply, startServer, type TestServer } from "../../../../test/rig/updater/services.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import { recogniseRouter } from "./recognise-router.ts";

let reply: Reply = {};
let [secure, plain]: TestServer[] = [];
beforeAll(async () => {
  secure = await startServer(() => reply, makeCertificate("DNS:elsewhere.test"));
  plain = await startServer(() => reply);
});
afterAll(() => Promise.all([secure?.close(), plain?.close()]));

const recognise = (...pages: readonly (TestServer | undefined)[]) =>
  recogniseRouter(
    "192.168.1.1",
    createHttpClient,
    new AbortController().signal,
    pages.map((page) => new URL(page?.url ?? "http://127.0.0.1:1")),
  );

test.each<[string, Reply, string | undefined]>([
  ["OPNsense", { body: "<head><title>Login | OPNsense</title>" }, "opnsense"],
  ["pfSense", { body: "<head><title>pfSense - Login</title></head>" }, "pfsense"],
  [
    "OpenWrt",
    {
      body: '<meta http-equiv="refresh" content="0; URL=cgi-bin/luci/" /><a href="/cgi-bin/luci/">LuCI - Lua Configuration Interface</a>',
    },
    "openwrt",
  ],
  ["MikroTik", { body: "<title>RouterOS router configuration page</title>" }, "mikrotik"],
  ["another page", { body: "<title>Printer</title>" }, undefined],
  ["a redirect", { status: 301, headers: { location: "https://192.0.2.1/" } }, undefined],
  ["nothing", { fault: "reset" }, undefined],
])("%s", async (_, said, kind) => {
  reply = said;
  const expected = kind && { kind, url: new URL("https://192.168.1.1/") };
  expect(await recognise(secure)).toEqual(expected);
});

it("tries the next page if one does not answer", async () => {
  reply = { body: "<title>RouterOS</title>" };
  expect(await recognise(undefined, plain)).toMatchObject({ kind: "mikrotik" });
  expect(await recognise(undefined)).toBeUndefined();
});
