import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";

/** Runs until the signal; returns the count of each answer. */
export type Neighbour = (signal: AbortSignal) => Promise<Readonly<Record<string, number>>>;

type Write = (method: string, path: string, body: string) => Promise<{ readonly status: number | string }>;

/** A zone that an account writes so that its queries are expensive, and those queries. */
type ExpensiveZone = { readonly lines: readonly string[]; readonly ask: () => readonly [name: string, type: number] };

const fresh = (): string => Math.random().toString(36).slice(2, 10);
const labels = (count: number, label = "a"): string => Array.from({ length: count }, () => label).join(".");
const many = (count: number, line: (i: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => line(i));

/** Base32 with extended hex, in the order of the numbers. */
const hashes = many(256, (i) => i.toString(32).padStart(2, "0").toUpperCase().padEnd(32, "8")).toSorted();
const nsec3 = `1 0 150 ${"ab".repeat(255)}`;
const signature = `13 2 60 20400101000000 20250101000000 1 @ ${"A".repeat(86)}==`;

const expensive: Readonly<Record<string, ExpensiveZone>> = {
  "hand-made NSEC3, 150 iterations": {
    lines: [
      `@ NSEC3PARAM ${nsec3}`,
      `@ RRSIG SOA ${signature}`,
      ...hashes.map((hash, i) => `${hash} NSEC3 ${nsec3} ${hashes[(i + 1) % hashes.length]} A RRSIG`),
      `${labels(100)} TXT x`,
    ],
    ask: () => [labels(100), 1 + Math.floor(Math.random() * 250)],
  },
  "a wildcard with 100 values": {
    lines: [
      ...many(100, (i) => `*.wild MX ${i} m${i}`),
      ...many(100, (i) => many(40, (j) => `m${i} A 10.1.${i}.${j}`).join("\n")),
    ],
    ask: () => [`${fresh()}.wild`, 15],
  },
  "a DNAME onto its own apex": { lines: ["d DNAME @"], ask: () => [`${fresh()}.${labels(90, "d")}`, 1] },
  "names of 110 labels": { lines: [`${labels(110)} TXT x`], ask: () => [`${fresh()}.${labels(90)}`, 16] },
};

/** Each creates its zone, and then asks from 64 networks for what is in it. */
export const zoneNeighbours = (write: Write, dns: number): Readonly<Record<string, Neighbour>> =>
  Object.fromEntries(
    Object.entries(expensive).map(([what, zone], i): [string, Neighbour] => [
      `queries: ${what}`,
      (signal) => queryZone({ zone, name: `expensive-${i}.example`, write, dns }, signal),
    ]),
  );

type Asking = { readonly zone: ExpensiveZone; readonly name: string; readonly write: Write; readonly dns: number };

async function queryZone({ zone, name, write, dns }: Asking, signal: AbortSignal) {
  const head = "$TTL 60\n@ SOA ns1.example.net. h.example.net. 1 7200 900 1209600 60\n@ NS ns1.example.net.\n";
  const zonefile = `${head}${zone.lines.join("\n")}\n`;
  const { status } = await write("POST", "/v1/zones", JSON.stringify({ name, mode: "primary", zonefile }));
  const sockets = many(64, (i) => `127.${10 + i}.7.1`).map((address) => createSocket("udp4").bind(0, address));
  let [asked, answered] = [0, 0];
  for (const socket of sockets)
    socket.on("message", () => {
      answered += 1;
    });
  const edns = { udpSize: 4_096, version: 0, dnssecOk: true, options: [] };
  while (!signal.aborted) {
    for (const socket of sockets) {
      const [owner, type] = zone.ask();
      const query = queryFor({ name: `${owner}.${name}`, type }, ++asked & 0xffff);
      socket.send(encodeMessage({ ...query, edns }), dns, "127.0.0.1");
    }
    await sleep(8);
  }
  for (const socket of sockets) socket.close();
  return { [`zone ${status}`]: 1, asked, answered };
}

/** Bytes that are written again and again, on connections that are opened again when they are closed. */
const frames = (port: number, bytes: Buffer): Neighbour =>
  async function send(signal) {
    let [connections, sent] = [0, 0];
    const open = () => {
      connections += 1;
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      socket.on("data", () => undefined);
      return socket;
    };
    const sockets = Array.from({ length: 4 }, open);
    while (!signal.aborted) {
      for (const [i, socket] of sockets.entries()) {
        if (socket.destroyed || !socket.writable) sockets[i] = open();
        else if (!socket.writableNeedDrain && !socket.connecting) {
          socket.write(bytes);
          sent += 1;
        }
      }
      await sleep(2);
    }
    for (const socket of sockets) socket.destroy();
    return { connections, sent };
  };

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** GET / of localhost, by RFC 7541's static table. */
const getRoot = Buffer.concat([Buffer.of(0x82, 0x86, 0x84, 0x41, 9), Buffer.from("localhost")]);
const rapidReset = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(4, 0, 0),
  frame(6, 0, 0, Buffer.alloc(8)),
  ...Array.from({ length: 3_000 }, (_, i) =>
    Buffer.concat([frame(1, 5, 2 * i + 1, getRoot), frame(3, 0, 2 * i + 1, Buffer.of(0, 0, 0, 8))]),
  ),
]);
const request = "GET /v1/zones HTTP/1.1\r\nHost: localhost\r\n\r\n";
const endless = "POST /v1/zones HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

export const frameNeighbours = (http: number): Readonly<Record<string, Neighbour>> => ({
  "HTTP/2 rapid reset": frames(http, rapidReset),
  "1,000 pipelined requests": frames(http, Buffer.from(request.repeat(1_000))),
  "20 pipelined requests": frames(http, Buffer.from(request.repeat(20))),
  "endless bodies of refused requests": frames(http, Buffer.from(endless + "1\r\n \r\n".repeat(10_000))),
});
