import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Moor, twoMoors } from "./two-moors.ts";

const rig = twoMoors();
let second: Moor;
let proxy: Server;
/** Answers to writes wait for it. */
let released: PromiseWithResolvers<void>;
let held = 0;
beforeAll(async () => {
  second = await Moor.start();
  proxy = createServer((asked, reply) => {
    const { method = "", url = "" } = asked;
    const passed = request(new URL(url, rig.there().service.url), { method, headers: asked.headers }, (answer) => {
      const pass = () => {
        reply.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(reply);
      };
      if (method === "GET") return pass();
      held += 1;
      void released.promise.then(pass);
    });
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  proxy.close();
  await second.service.close();
});

test("an answer of the provider that a zone has left does not count at the next one", async () => {
  const front = rig.front();
  released = Promise.withResolvers();
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  await front.ok("POST", "/providers", { name: "slow", kind: "hetzner", url, token: rig.there().token });
  const other = { name: "other", kind: "hetzner", url: second.service.url, token: second.token };
  await front.ok("POST", "/providers", other);
  const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
  await second.ok("POST", "/zones", { name: zone, mode: "primary" });
  await second.put(zone, "www", "A", ["192.0.2.9"]);
  await rig.publish(zone, { provider: "slow" });
  await front.put(zone, "www", "A", ["192.0.2.2"]);
  await expect.poll(() => held).toBeGreaterThan(0);
  await front.ok("POST", `/zones/${zone}/actions/unpublish`, {});
  const again = () => rig.publish(zone, { provider: "other", fill: "ours" }).then(() => true, String);
  const early = await again();
  released.resolve();
  if (early !== true) await expect.poll(again).toBe(true);
  await expect.poll(async () => (await front.state(zone, "www"))?.state).toBe("published");
  expect(await second.lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
  expect(early).toMatch(/still/);
});

test("of two calls that publish a zone at the same time, one is refused", async () => {
  const front = rig.front();
  const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
  const provider = await rig.provider();
  const { preview } = await front.ok("GET", `/zones/${zone}/publication/preview?provider=${provider}`);
  const body = { provider, digest: preview.digest, fill: "theirs" };
  const publish = () => front.call("POST", `/zones/${zone}/actions/publish`, body);
  const both = await Promise.all([publish(), publish()]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
  await expect.poll(async () => (await front.state(zone, "www"))?.state).toBe("published");
});
