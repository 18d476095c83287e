import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ParentView } from "../../src/core/dnssec/parent-view.ts";
import type { Peer } from "../../src/lib/dns/ask.ts";
import { classes, rcodes, types } from "../../src/lib/dns/codes.ts";
import type { DnsTools } from "../../src/lib/dns/delegation.ts";
import { createAskParent } from "../../src/lib/dns/delegation.ts";
import { decodeMessage, emptyMessage, encodeMessage, framed, type Message } from "../../src/lib/dns/message.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { type RealServer, type ServerName, startRealServer } from "./real-servers.ts";

const at = (port: number): Peer => ({ host: "127.0.0.1", port, key: undefined });
const ask = (servers: readonly Peer[], zone = "child.parent.test"): Promise<ParentView> =>
  createAskParent(servers)(zone, AbortSignal.timeout(60_000));

const digest = (i: number, length = 64): string => i.toString(16).padStart(length, "0");
/** Far more than 512 bytes. */
const many = Array.from({ length: 20 }, (_, i) => `many 7200 DS ${1000 + i} 13 2 ${digest(i)}`);
const text = `@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300
@ 3600 NS ns1
ns1 3600 A 127.0.0.1
child 3600 NS ns.child
ns.child 3600 A 127.0.0.1
child 7200 DS 4711 13 2 ${digest(1)}
child 7200 DS 4711 13 4 ${digest(2, 96)}
plain 3600 NS ns.child
many 3600 NS ns.child
${many.join("\n")}
`;

describe.each<ServerName>(["BIND", "Knot", "NSD"])("%s as the server of the parent", (name) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startRealServer(name, [
      { name: "parent.test", serial: 1, ttl: 3_600, sets: writtenSets("parent.test", text) },
    ]);
  });
  afterAll(() => server?.close());

  it("gives its DS records whole, with their TTL", async () => {
    const [view] = await ask([at(server.port)]);
    expect(view).toMatchObject({ server: `127.0.0.1 port ${server.port}`, ttl: 7_200 });
    const ds = view !== undefined && "ds" in view ? view.ds.toSorted((a, b) => a.digestType - b.digestType) : [];
    expect(ds).toEqual([
      { tag: 4711, algorithm: 13, digestType: 2, digest: digest(1) },
      { tag: 4711, algorithm: 13, digestType: 4, digest: digest(2, 96) },
    ]);
  });

  it("has none for a zone that it delegates without one, and for a name that does not exist", async () => {
    expect(await ask([at(server.port)], "plain.parent.test")).toMatchObject([{ ds: [] }]);
    expect(await ask([at(server.port)], "missing.parent.test")).toMatchObject([{ ds: [] }]);
  });

  it("is asked again over TCP if its answer is truncated", async () => {
    const [view] = await ask([at(server.port)], "many.parent.test");
    expect(view !== undefined && "ds" in view && view.ds.length).toBe(many.length);
  });

  it("says nothing about other zones, nor, as a server of the zone itself, about the parent", async () => {
    expect(await ask([at(server.port)], "child.other.test")).toEqual([
      { because: `127.0.0.1 port ${server.port} answers with the error REFUSED` },
    ]);
    expect(await ask([at(server.port)], "parent.test")).toMatchObject([{ because: expect.any(String) }]);
  });
});

/** A server over UDP and TCP that answers as told. */
async function fakeServer(udp: () => Partial<Message> | undefined, tcp?: Partial<Message>) {
  let asked = 0;
  const answerTo = (packet: Uint8Array, reply: Partial<Message>): Uint8Array => {
    const asked = decodeMessage(packet);
    if (!asked.ok) throw new Error(asked.because);
    const { id, questions } = asked.message;
    return encodeMessage({ ...emptyMessage, id, questions, response: true, authoritative: true, ...reply });
  };
  const stream = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (chunk) => {
      if (tcp === undefined) socket.destroy();
      else socket.end(framed(answerTo(chunk.subarray(2), tcp)));
    });
  }).listen(0, "127.0.0.1");
  await once(stream, "listening");
  const { port } = stream.address() as { port: number };
  const socket = createSocket("udp4").bind(port, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => {
    stream.close();
    socket.close();
  });
  socket.on("message", (packet, from) => {
    asked += 1;
    const reply = udp();
    if (reply !== undefined) socket.send(answerTo(packet, reply), from.port, from.address);
  });
  return { peer: at(port), port, asked: () => asked };
}

const zone = "child.parent.test";
const ds = { name: zone, type: types.ds, class: classes.in, ttl: 60, data: Uint8Array.of(0, 1, 13, 2, 7) };
const soa = (name: string) => ({ name, type: types.soa, class: classes.in, ttl: 60, data: new Uint8Array(22) });

it.for<[string, Partial<Message> | undefined, Partial<Message> | undefined, string]>([
  ["is silent", undefined, undefined, "does not answer"],
  ["fails", { rcode: rcodes.servFail }, undefined, "answers with the error SERVFAIL"],
  ["is lame", { authoritative: false, authorities: [soa("parent.test")] }, undefined, "is not authoritative"],
  ["refers elsewhere", { authoritative: false }, undefined, "is not authoritative"],
  ["answers for the zone itself", { authorities: [soa(zone)] }, undefined, "another zone than the parent"],
  ["answers without a SOA record", {}, undefined, "another zone than the parent"],
  ["truncates, and is silent over TCP", { truncated: true, answers: [ds] }, undefined, "none over TCP"],
  ["truncates over TCP too", { truncated: true }, { truncated: true, answers: [ds] }, "none over TCP"],
  [
    "answers another question",
    { questions: [{ ...ds, name: "x.parent.test" }], answers: [ds] },
    undefined,
    "another question",
  ],
  ["has a malformed DS record", { answers: [{ ...ds, data: Uint8Array.of(0, 1, 13) }] }, undefined, "malformed"],
])("what a server has is unknown if it %s, whatever the others say", async ([, udp, tcp, because]) => {
  const [good, bad] = [await fakeServer(() => ({ answers: [ds] })), await fakeServer(() => udp, tcp)];
  const views = await ask([good.peer, bad.peer]);
  expect(views).toEqual([
    { server: `127.0.0.1 port ${good.port}`, ds: [{ tag: 1, algorithm: 13, digestType: 2, digest: "07" }], ttl: 60 },
    { because: expect.stringMatching(new RegExp(`^127.0.0.1 port ${bad.port} .*${because}`)) },
  ]);
});

it("a truncated reply over UDP is asked again over TCP", async () => {
  const server = await fakeServer(() => ({ truncated: true }), {
    answers: [ds, { ...ds, data: Uint8Array.of(0, 2, 13, 2, 7) }],
  });
  expect(await ask([server.peer])).toMatchObject([{ ds: [{ tag: 1 }, { tag: 2 }] }]);
});

it.for<[string, Partial<DnsTools>, ParentView]>([
  [
    "cannot be looked up",
    { serversOf: () => Promise.reject(new Error("no resolver")) },
    [{ because: "the nameservers of the parent zone are not known: no resolver" }],
  ],
  ["do not exist", { serversOf: async () => [] }, []],
  [
    "have no public address",
    { mayAsk: () => false },
    [{ because: "ns1.parent.test has no public address, or it was not found" }],
  ],
  [
    "are too many",
    { serversOf: async () => Array.from({ length: 40 }, (_, i) => `ns${i}.parent.test`) },
    [{ because: "the nameservers of the parent zone are not known: it has 40, but at most 32 are asked" }],
  ],
])("the parent is unknown if its servers %s", async ([, tools, view]) => {
  const dns = { serversOf: async () => ["ns1.parent.test"], addressesOf: async () => ["10.0.0.1"], mayAsk: () => true };
  const none = () => Promise.reject(new Error("not used"));
  expect(await createAskParent([], { ...dns, ask: none, ...tools })(zone, AbortSignal.timeout(60_000))).toEqual(view);
});

it("a thousand zones do not each wait for the same silent server, and its return is noticed", async () => {
  let clock = 0;
  let isUp = false;
  const server = await fakeServer(() => (isUp ? { answers: [ds] } : undefined));
  const askOne = createAskParent([server.peer], undefined, () => clock);
  const from = AbortSignal.timeout(60_000);
  const silent = [{ because: expect.stringContaining("does not answer") }];
  const together = await Promise.all(Array.from({ length: 10 }, () => askOne(zone, from)));
  expect(together).toEqual(together.map(() => silent));
  const first = server.asked();
  for (let i = 0; i < 1_000; i++) expect(await askOne(zone, from)).toEqual(silent);
  expect(server.asked()).toBe(first);
  // A minute later, one zone asks again.
  clock += 60_000;
  expect(await Promise.all([askOne(zone, from), askOne(zone, from)])).toEqual([silent, silent]);
  expect(server.asked()).toBe(first + 2);
  clock += 60_000;
  expect(await askOne(zone, from)).toEqual(silent);
  expect(server.asked()).toBe(first + 2);
  isUp = true;
  clock += 60_000;
  expect(await askOne(zone, from)).toMatchObject([{ ttl: 60 }]);
  expect(await Promise.all([askOne(zone, from), askOne(zone, from)])).toMatchObject([[{ ttl: 60 }], [{ ttl: 60 }]]);
});

it("the servers of a parent are looked up once for many zones, and again after some minutes", async () => {
  let clock = 0;
  const lookups: string[] = [];
  let fails = true;
  const looked = async (name: string, found: readonly string[]) => {
    lookups.push(name);
    if (fails) throw new Error("no resolver");
    return found;
  };
  const tools: DnsTools = {
    serversOf: (name) => looked(name, name === "parent.test" ? ["ns1.parent.test", "ns2.parent.test"] : []),
    addressesOf: (name) => looked(name, []),
    mayAsk: () => true,
    ask: () => Promise.reject(new Error("not used")),
  };
  const askOne = createAskParent([], tools, () => clock);
  const visitAll = () =>
    Promise.all(Array.from({ length: 100 }, (_, i) => askOne(`z${i}.parent.test`, AbortSignal.timeout(60_000))));
  await visitAll();
  await visitAll();
  expect(lookups).toEqual(["parent.test"]);
  fails = false;
  clock += 60_000;
  await visitAll();
  await visitAll();
  expect(lookups.splice(1)).toEqual(["parent.test", "ns1.parent.test", "ns2.parent.test"]);
  clock += 10 * 60_000;
  await visitAll();
  expect(lookups.splice(1)).toEqual(["parent.test", "ns1.parent.test", "ns2.parent.test"]);
});
