import { expect, it, onTestFinished } from "vitest";
import { startMoorDns } from "../../test/nameserver/moor-dns.ts";
import { freePort } from "../../test/rig/free-port.ts";
import { awaitSecondaries } from "./await-secondaries.ts";

const name = "_acme-challenge.dns.example.org";
const limits = { inAll: 600_000, perQuestion: 600_000, interval: 5 };

it("waits for a nameserver that does not have the value yet, but not for one that does not answer", async () => {
  const secondary = await startMoorDns();
  onTestFinished(secondary.close);
  const zone = await secondary.makeZone("example.org", '_acme-challenge.dns 60 TXT "old"\n');
  const at = { host: "127.0.0.1", port: secondary.port };
  const silent = { host: "127.0.0.1", port: await freePort() };
  await awaitSecondaries([at, silent], limits)(name, ["old"]);
  const order: string[] = [];
  const waiting = awaitSecondaries([at], limits)(name, ["old", "new"]).then(() => order.push("served"));
  await secondary.dig(name, "TXT");
  order.push("written");
  await secondary.write(zone, '_acme-challenge.dns 60 TXT "old"\n_acme-challenge.dns 60 TXT "new"\n');
  await waiting;
  expect(order).toEqual(["written", "served"]);
});

it("times out", async () => {
  const secondary = await startMoorDns();
  onTestFinished(secondary.close);
  await secondary.makeZone("example.org");
  const at = { host: "127.0.0.1", port: secondary.port };
  await expect(awaitSecondaries([at], { ...limits, inAll: 50 })(name, ["new"])).resolves.toBeUndefined();
});
