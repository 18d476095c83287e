import { createSocket } from "node:dgram";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";

/**
 * Queries DNS and the API at a steady rate, whether or not there are answers, and prints the milliseconds of each
 * answer as JSON. Unanswered requests count with the whole time waited. It is a separate process, so that nothing else
 * delays it. `node bench/neighbours/victim.ts DNS-PORT HTTP-PORT TOKEN RECORD ZONE SECONDS`
 */
const [dns = 0, http = 0, seconds = 0] = [2, 3, 7].map((i) => Number(process.argv[i]));
const [token = "", record = "", zone = ""] = process.argv.slice(4, 7);
const pace = { dns: 250, get: 40, put: 20 };
const waitsFor = 10_000;

type Kind = keyof typeof pace;
const took: Record<Kind, number[]> = { dns: [], get: [], put: [] };
let waiting = 0;
let failed = 0;

/** Not the network of the neighbour, which uses 127.0.0.1: limits per source must be able to distinguish them. */
const ownAddress = "127.0.9.1";
const socket = createSocket("udp4").bind(0, ownAddress);
const asked = new Map<number, number>();
const query = Buffer.from(encodeMessage(queryFor({ name: "www.victim.example", type: 1 }, 0)));
socket.on("message", (reply) => {
  const id = reply.readUInt16BE(0);
  took.dns.push(performance.now() - (asked.get(id) ?? Number.NaN));
  asked.delete(id);
});

const agent = new Agent({ keepAlive: true });
const headers = { "Auth-API-Token": token, "Content-Type": "application/json" };

function call(kind: "get" | "put", i: number): void {
  const start = performance.now();
  waiting += 1;
  const end = (good: boolean) => {
    waiting -= 1;
    if (!good) failed += 1;
    took[kind].push(performance.now() - start);
  };
  const options = {
    agent,
    port: http,
    host: "127.0.0.1",
    localAddress: ownAddress,
    path: `/api/v1/records/${record}`,
    headers,
  };
  const sent = request({ ...options, method: kind.toUpperCase() }, (response) => {
    response.resume().on("end", () => end(response.statusCode === 200));
  });
  sent.on("error", () => end(false));
  const body = { zone_id: zone, type: "A", name: "www", value: `10.9.${(i >> 8) & 255}.${i & 255}`, ttl: 60 };
  sent.end(kind === "put" ? JSON.stringify(body) : undefined);
}

function ask(i: number): void {
  const packet = Buffer.from(query);
  packet.writeUInt16BE(i & 0xffff, 0);
  asked.set(i & 0xffff, performance.now());
  socket.send(packet, dns, "127.0.0.1");
}

const start = performance.now();
const sent: Record<Kind, number> = { dns: 0, get: 0, put: 0 };
for (let now = 0; now < seconds; now = (performance.now() - start) / 1_000) {
  for (; sent.dns < now * pace.dns; sent.dns++) ask(sent.dns);
  for (const kind of ["get", "put"] as const)
    for (; sent[kind] < now * pace[kind]; sent[kind]++) call(kind, sent[kind]);
  await sleep(1);
}
const end = performance.now() + waitsFor;
while ((waiting > 0 || asked.size > 0) && performance.now() < end) await sleep(10);
const unanswered = asked.size + waiting;
for (const since of asked.values()) took.dns.push(performance.now() - since);
for (let i = 0; i < waiting; i++) took.get.push(waitsFor);
const text = JSON.stringify({ dns: took.dns, api: [...took.get, ...took.put], failed, unanswered });
// A pipe does not take all of it at once.
process.stdout.write(text, () => process.exit(0));
