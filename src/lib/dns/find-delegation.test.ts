import { afterAll, beforeAll, expect, it } from "vitest";
import { type MoorDns, startMoorDns } from "../../../test/nameserver/moor-dns.ts";
import { askUdp } from "./ask.ts";
import { classes, opcodes } from "./codes.ts";
import { type DnsTools, findDelegationBy, systemDns } from "./delegation.ts";

/** A real nameserver with the parent zone. */
let parent: MoorDns;
const asked: string[] = [];
beforeAll(async () => {
  parent = await startMoorDns();
  await parent.makeZone(
    "example",
    "given 60 NS ns2.harbour.test.\ngiven 60 NS ns1.harbour.test.\nwww 60 A 192.0.2.1\n",
  );
});
afterAll(() => parent?.close());

const dns: DnsTools = {
  serversOf: async (name) => (name === "example" ? ["ns1.silent.test", "ns.example"] : []),
  addressesOf: async (server) => (server === "ns.example" ? ["127.0.0.1"] : ["10.0.0.1"]),
  mayAsk: (address) => address === "127.0.0.1",
  ask: (host, name, signal) => {
    asked.push(host);
    const question = { name, type: 2, class: classes.in };
    const peer = { host, port: parent.port, key: undefined };
    return askUdp(peer, { opcode: opcodes.query, question }, { signal, limit: 10_000, now: Date.now });
  },
};
const find = (zone: string, tools: Partial<DnsTools> = {}) =>
  findDelegationBy({ ...dns, ...tools })(zone, AbortSignal.timeout(10_000));

it.for([
  ["given.example", { kind: "delegated", servers: ["ns1.harbour.test", "ns2.harbour.test"] }],
  ["missing.example", { kind: "none" }],
  ["www.example", { kind: "none" }],
  ["below.given.example", { kind: "unknown", because: "the parent zone refers to other servers" }],
] as const)("asks the parent zone about %s", async ([zone, found]) => {
  expect(await find(zone)).toEqual(found);
  expect(new Set(asked)).toEqual(new Set(["127.0.0.1"]));
});

it.for<[string, Partial<DnsTools>]>([
  ["the resolver does not answer", { serversOf: () => Promise.reject(new Error("no resolver")) }],
  ["no server of the parent zone may be asked", { mayAsk: () => false }],
  ["no server of the parent zone answers", { ask: () => Promise.reject(new Error("silence")) }],
  ["nothing above is known", { serversOf: async () => [] }],
])("the delegation is unknown if %s", async ([, tools]) => {
  expect(await find("given.example", tools)).toMatchObject({ kind: "unknown" });
});

it.for([
  ["127.0.0.1", false],
  ["10.0.0.1", false],
  ["::ffff:192.168.0.1", false],
  ["not an address", false],
  ["199.43.135.53", true],
] as const)("systemDns may ask %s: %s", ([address, may]) => {
  expect(systemDns().mayAsk(address)).toBe(may);
});
