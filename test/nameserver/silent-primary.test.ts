import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PrimaryServer } from "../../src/records/model.ts";
import { until } from "../rig/until.ts";
import { addressOver } from "./ask-over-udp.ts";
import { everyone, type MoorDns, startMoorDns } from "./moor-dns.ts";

/** Accepts connections but never answers, as if a firewall dropped its answers. */
let silent: Server;
/** Requested transfers, and those that were given up. */
const transfers = { asked: 0, ended: 0 };
const asksForTransfer = (asked: Buffer) => [251, 252].some((type) => asked.includes(Buffer.of(0, 0, type, 0, 1)));
let primary: MoorDns;
let secondary: MoorDns;
beforeAll(async () => {
  silent = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (asked) => {
      if (!asksForTransfer(asked)) return;
      transfers.asked += 1;
      socket.on("close", () => {
        transfers.ended += 1;
      });
    });
  });
  await new Promise<void>((resolve) => silent.listen(0, "0.0.0.0", () => resolve()));
  secondary = await startMoorDns();
  const notify = [{ host: "127.0.0.1", port: secondary.port, keyName: undefined }];
  primary = await startMoorDns({ networks: everyone, notify });
});
afterAll(async () => {
  await primary?.close();
  await secondary?.close();
  silent?.close();
});

const at = (address: string, port: number): PrimaryServer => ({
  ...{ id: `${address} ${port}`, address, port, created: 1, modified: 1 },
});
const ofSilent = () => at("127.0.0.2", (silent.address() as { port: number }).port);
const ofPrimary = () => at("127.0.0.1", primary.port);
const follow = (name: string, ...primaries: readonly PrimaryServer[]) =>
  secondary.makeZone(name, "", { mode: "secondary", primaries });
const says = (name: string, address: string) =>
  until(async () => (await addressOver(secondary.port, name)) === address, {
    ...{ every: 200, what: () => `${name} ${address}: ${secondary.log()}` },
  });

it("a silent primary does not delay a change that another primary of the zone announces", async () => {
  const zone = await primary.makeZone("two.example", "www 60 A 192.0.2.1");
  await follow("two.example", ofSilent(), ofPrimary());
  await says("www.two.example", "192.0.2.1");
  expect(transfers.asked).toBe(1);
  await primary.write(zone, "www 60 A 192.0.2.2");
  await says("www.two.example", "192.0.2.2");
  expect(transfers.asked).toBe(1);
});

it("a silent primary does not delay zones of other primaries, however many zones it has", async () => {
  const zone = await primary.makeZone("good.example", "www 60 A 192.0.2.1");
  for (let i = 0; i < 100; i++) await follow(`silent${i}.example`, ofSilent());
  await follow("good.example", ofPrimary());
  await says("www.good.example", "192.0.2.1");
  const before = transfers.ended;
  // Eight are requested at a time, for twenty seconds each: a zone that waits for a third of them is late.
  expect(before).toBeLessThan(30);
  await primary.write(zone, "www 60 A 192.0.2.2");
  await says("www.good.example", "192.0.2.2");
  expect(transfers.ended - before).toBeLessThan(30);
});

it("a silent primary delays only zones of its own account, even if it has many addresses", async () => {
  const { port } = silent.address() as { port: number };
  const before = transfers.asked;
  for (let i = 0; i < 200; i++) {
    const primaries = [at(`127.0.1.${i}`, port)];
    await secondary.makeZone(`many${i}.example`, "", { mode: "secondary", primaries }, "hostile");
  }
  await until(() => transfers.asked - before >= 32, { what: () => `${transfers.asked - before} of 32` });
  await primary.makeZone("other.example", "www 60 A 192.0.2.1");
  const ended = transfers.ended;
  await follow("other.example", ofPrimary());
  await says("www.other.example", "192.0.2.1");
  // Each lasts twenty seconds. The zone did not wait until one of them left its slot.
  expect(transfers.ended - ended).toBe(0);
});

it("a primary that answers only over TCP is followed, although another one, which lags behind, answers over UDP", async () => {
  const behind = await startMoorDns({ networks: everyone });
  const front = createServer((socket) => {
    const back = connect(primary.port, "127.0.0.1").on("error", () => undefined);
    socket.on("error", () => undefined);
    socket.pipe(back).pipe(socket);
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.2", () => resolve()));
  const ofFront = at("127.0.0.2", (front.address() as { port: number }).port);
  try {
    await behind.makeZone("tcp.example", "www 60 A 192.0.2.1");
    const zone = await primary.makeZone("tcp.example", "www 60 A 192.0.2.1");
    await follow("tcp.example", ofFront, at("127.0.0.1", behind.port));
    await says("www.tcp.example", "192.0.2.1");
    await primary.write(zone, "www 60 A 192.0.2.2");
    await says("www.tcp.example", "192.0.2.2");
    expect(await behind.dig("+short", "www.tcp.example"), "the other primary").toBe("192.0.2.1");
  } finally {
    front.close();
    await behind.close();
  }
});
