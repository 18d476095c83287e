import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { expect, it } from "vitest";
import { until } from "../rig/until.ts";
import { addressOver } from "./ask-over-udp.ts";
import { everyone, startMoorDns } from "./moor-dns.ts";

/** One address with two servers behind it: UDP reaches one, TCP the other, which does not support IXFR. */
async function startPair(overUdp: number, overTcp: () => number) {
  const tcp = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (asked) => {
      const isIxfr = asked.includes(Buffer.of(0, 0, 251, 0, 1));
      if (isIxfr) return void socket.end(notImplemented(asked));
      const behind = connect(overTcp(), "127.0.0.1").on("error", () => undefined);
      behind.write(asked);
      behind.pipe(socket);
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", () => resolve()));
  const { port } = tcp.address() as { port: number };
  const udp = createSocket("udp4", (asked, from) => {
    const behind = createSocket("udp4", (answer) => {
      udp.send(answer, from.port, from.address);
      behind.close();
    });
    behind.send(asked, overUdp, "127.0.0.1");
  });
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", () => resolve()));
  const close = () => {
    tcp.close();
    udp.close();
  };
  return { port, close };
}

const notImplemented = (asked: Buffer): Buffer =>
  Buffer.of(0, 12, asked[2] ?? 0, asked[3] ?? 0, 0x80, 4, 0, 0, 0, 0, 0, 0, 0, 0);

it("a zone does not go back to an older version when one of several servers at an address lags behind", async () => {
  const ahead = await startMoorDns({ networks: everyone });
  const behind = await startMoorDns({ networks: everyone });
  const secondary = await startMoorDns();
  let overTcp = ahead.port;
  const pair = await startPair(ahead.port, () => overTcp);
  try {
    await behind.makeZone("pool.example", "www 60 A 192.0.2.1");
    const zone = await ahead.makeZone("pool.example", "www 60 A 192.0.2.1");
    await ahead.write(zone, "www 60 A 192.0.2.2");
    const primaries = [{ id: "p", address: "127.0.0.1", port: pair.port, created: 1, modified: 1 }];
    await secondary.makeZone("pool.example", "", { mode: "secondary", primaries });
    const says = () => addressOver(secondary.port, "www.pool.example");
    const serial = async () => (await secondary.store.zoneHolding("pool.example"))?.serial;
    await until(async () => (await says()) === "192.0.2.2", { what: () => secondary.log() });
    const had = await serial();
    overTcp = behind.port;
    await ahead.write(zone, "www 60 A 192.0.2.3");
    await secondary.dig("+opcode=notify", "pool.example", "SOA");
    const why = "it announces a newer version but sends serial 1";
    await until(() => secondary.log().includes(why), { what: () => secondary.log() });
    expect([await says(), await serial()]).toEqual(["192.0.2.2", had]);
    overTcp = ahead.port;
    await secondary.dig("+opcode=notify", "pool.example", "SOA");
    await until(async () => (await says()) === "192.0.2.3", { what: () => secondary.log() });
  } finally {
    await secondary.close();
    pair.close();
    await ahead.close();
    await behind.close();
  }
});
