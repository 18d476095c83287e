import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { decodeMessage, emptyMessage, encodeMessage, type Message } from "../../lib/dns/message.ts";
import { readTsig, type TsigKey } from "../../lib/dns/tsig.ts";
import { signRequest } from "../../lib/dns/tsig-client.ts";
import { LoadedZones } from "../answer/loaded-zones.ts";
import { createResponder } from "../answer/respond.ts";
import type { UpdateRequest } from "../wire/update-read.ts";
import { RequestDispatcher, type TransferPorts, type UpdateOutcome } from "./dispatch.ts";

const key: TsigKey = { name: "k", algorithm: "hmac-sha256", secret: Buffer.alloc(32, 1) };
const now = 1_700_000_000_000;
const contents = [
  writtenZone("example.org", "@ 60 NS ns1\nwww 60 A 192.0.2.1"),
  writtenZone("catalog.example", "version 0 TXT 2"),
  writtenZone("long.example", Array.from({ length: 4_000 }, (_, i) => `h${i} 60 TXT "${"x".repeat(40)}"`).join("\n")),
];
const zones = new LoadedZones({
  names: async function* () {
    yield contents.map((zone) => zone.name);
  },
  closest: async (names) => names.find((name) => contents.some((zone) => zone.name === name)),
  load: async (name) => contents.find((zone) => zone.name === name),
  follow: () => () => {},
});

let updates: UpdateRequest[];
let outcome: UpdateOutcome;
const troubles: unknown[] = [];
beforeEach(() => {
  updates = [];
  outcome = "done";
});
/** Keys that were revoked while a transfer ran. */
const revoked = new Set<string>();
const ports: TransferPorts = {
  accessVersion: () => revoked.size,
  keyNamed: async (name) => (name === key.name ? key : undefined),
  mayTransfer: async (_, client) =>
    (client.key !== undefined && !revoked.has(client.key)) || client.from === "192.0.2.53",
  changesBetween: async () => undefined,
  update: async (request) => {
    updates.push(request);
    return outcome;
  },
  notified: async (zone, { from }) =>
    zone !== "example.org" ? "not-ours" : from === "192.0.2.53" ? "taken" : "refused",
  restrictedZone: "catalog.example",
};
const onTrouble = (error: unknown) => troubles.push(error);
const { respond, stream } = new RequestDispatcher({
  respond: createResponder({ zones, onTrouble }),
  zones,
  ports,
  now: () => now,
  onTrouble,
});

const message = (more: Partial<Message> & { name?: string; type?: number }): Message => ({
  id: 9,
  ...emptyMessage,
  questions: [{ name: more.name ?? "example.org", type: more.type ?? 6, class: 1 }],
  ...more,
});
const bytesOf = (more: Parameters<typeof message>[0]): Buffer => encodeMessage(message(more));
const signed = (more: Parameters<typeof message>[0], by = key): Buffer => signRequest(bytesOf(more), by, now).bytes;

async function replyTo(bytes: Buffer, from = "203.0.113.1"): Promise<Message & { signedReply: boolean }> {
  const reply = await respond(bytes, "udp", from);
  if (reply === undefined) throw new Error("no reply");
  const tsig = readTsig(reply);
  const decoded = decodeMessage(typeof tsig === "string" ? reply : tsig.message);
  if (!decoded.ok) throw new Error(decoded.because);
  return { ...decoded.message, signedReply: typeof tsig !== "string" && tsig.tsig.mac.length > 0 };
}

const ofChaos = (type: number) => ({ questions: [{ name: "example.org", type, class: 3 }] });
const laterEdns = { udpSize: 1_232, version: 1, dnssecOk: false, options: [] };

describe("what is replied", () => {
  it.each([
    ["to a plain query", bytesOf({ name: "www.example.org", type: 1 }), "", { rcode: 0, signedReply: false }],
    ["to a signed query", signed({ name: "www.example.org", type: 1 }), "", { rcode: 0, signedReply: true }],
    [
      "to a query signed with an unknown key",
      signed({}, { ...key, name: "other" }),
      "",
      { rcode: 9, signedReply: false },
    ],
    [
      "to a query signed with a wrong secret",
      signed({}, { ...key, secret: Buffer.of(1) }),
      "",
      { rcode: 9, signedReply: false },
    ],
    ["to an unknown client that asks for the catalog", bytesOf({ name: "catalog.example" }), "", { rcode: 5 }],
    ["to a client that may transfer the catalog", bytesOf({ name: "catalog.example" }), "192.0.2.53", { rcode: 0 }],
    ["to IXFR by an unknown client", bytesOf({ type: 251 }), "", { rcode: 5 }],
    ["to AXFR over UDP", bytesOf({ type: 252 }), "192.0.2.53", { rcode: 1 }],
    ["to a NOTIFY from a primary", bytesOf({ opcode: 4 }), "192.0.2.53", { rcode: 0, opcode: 4, authoritative: true }],
    ["to a NOTIFY from an unknown server", bytesOf({ opcode: 4 }), "", { rcode: 5 }],
    [
      "to a NOTIFY about a zone that is not here",
      bytesOf({ opcode: 4, name: "example.net" }),
      "192.0.2.53",
      { rcode: 9 },
    ],
    ["to a NOTIFY about another type", bytesOf({ opcode: 4, type: 1 }), "192.0.2.53", { rcode: 4 }],
    ["to an unsigned update", bytesOf({ opcode: 5 }), "192.0.2.53", { rcode: 5 }],
    ["to a signed update", signed({ opcode: 5 }), "", { rcode: 0, opcode: 5, signedReply: true }],
    ["to an update of another class", signed({ ...ofChaos(6), opcode: 5 }), "", { rcode: 9, signedReply: true }],
    [
      "to an update whose zone section has another type",
      signed({ opcode: 5, type: 1 }),
      "",
      { rcode: 1, signedReply: true },
    ],
    ["to another opcode", bytesOf({ opcode: 2 }), "", { rcode: 4 }],
    ["to IXFR of another class", bytesOf(ofChaos(251)), "192.0.2.53", { rcode: 5 }],
    ["to a NOTIFY of another class", bytesOf({ ...ofChaos(6), opcode: 4 }), "192.0.2.53", { rcode: 9 }],
    ["to IXFR with a later EDNS version", bytesOf({ type: 251, edns: laterEdns }), "192.0.2.53", { rcode: 16 }],
    ["to a NOTIFY with a later EDNS version", bytesOf({ opcode: 4, edns: laterEdns }), "192.0.2.53", { rcode: 16 }],
    [
      "to an update with a later EDNS version",
      signed({ opcode: 5, edns: laterEdns }),
      "",
      { rcode: 16, signedReply: true },
    ],
  ] as const)("%s", async (_, bytes, from, expected) => {
    expect(await replyTo(bytes, from)).toMatchObject({ id: 9, response: true, ...expected });
  });

  const long = (opcode: number, more: object = {}): Buffer => {
    const bytes = bytesOf({ opcode, ...more });
    // They are not records: who reads them answers FORMERR.
    bytes.writeUInt16BE(5_000, 8);
    return Buffer.concat([bytes, Buffer.alloc(60_000, 0xff)]);
  };
  const byUnknown = (bytes: Buffer): Buffer => signRequest(bytes, { ...key, name: "other" }, now).bytes;
  const manyRecords = Array.from({ length: 5_000 }, () => ({ name: "", type: 1, class: 1, ttl: 0, data: Buffer.of() }));
  it.each([
    ["an update without a signature", long(5), { rcode: 5 }],
    ["an update signed with an unknown key", byUnknown(bytesOf({ opcode: 5, authorities: manyRecords })), { rcode: 9 }],
    ["a query signed with an unknown key", byUnknown(bytesOf({ authorities: manyRecords })), { rcode: 9 }],
    ["a NOTIFY without a signature", bytesOf({ opcode: 4, authorities: manyRecords }), { rcode: 1 }],
  ])("the records of %s are not read", async (_, bytes, expected) => {
    expect(await replyTo(bytes)).toMatchObject({ id: 9, response: true, questions: [], ...expected });
  });

  const inZone = (more: object) => ({ name: "www.example.org", type: 1, class: 1, ttl: 0, data: Buffer.of(), ...more });
  it.each([
    [
      "an owner outside the zone",
      { authorities: [inZone({ name: "example.net", ttl: 60, data: Buffer.alloc(4) })] },
      10,
    ],
    ["a prerequisite with a TTL", { answers: [inZone({ class: 255, ttl: 1 })] }, 1],
    ["an address of three bytes", { authorities: [inZone({ ttl: 60, data: Buffer.alloc(3) })] }, 1],
    ["a deletion with a TTL", { authorities: [inZone({ class: 255, ttl: 1 })] }, 1],
    ["a value to delete with a TTL", { authorities: [inZone({ class: 254, ttl: 1, data: Buffer.alloc(4) })] }, 1],
    ["a class without a meaning in updates", { authorities: [inZone({ class: 3 })] }, 1],
    ["a type that is only for queries", { authorities: [inZone({ type: 252, class: 255 })] }, 1],
  ])("to an update with %s", async (_, more, rcode) => {
    expect(await replyTo(signed({ opcode: 5, ...more }))).toMatchObject({ rcode });
    expect(updates).toEqual([]);
  });

  it("to an update: NOERROR, and a TTL with its highest bit set counts as 0 (RFC 2181 section 8)", async () => {
    const authorities = [0x7fff_ffff, 0x8000_0000].map((ttl) => inZone({ ttl, data: Buffer.alloc(4) }));
    expect(await replyTo(signed({ opcode: 5, authorities }))).toMatchObject({ rcode: 0 });
    expect(updates[0]?.updates).toMatchObject([{ ttl: 0x7fff_ffff }, { ttl: 0 }]);
  });

  it.each([
    ["refused", 5],
    ["not-ours", 9],
    ["name-exists", 6],
    ["name-missing", 3],
    ["set-exists", 7],
    ["set-missing", 8],
  ] as const)("to an update that ends with %s", async (ended, rcode) => {
    outcome = ended;
    expect(await replyTo(signed({ opcode: 5 }))).toMatchObject({ rcode });
  });

  it("to a query with two OPT records: FORMERR, with EDNS", async () => {
    const opt = { name: "", type: 41, class: 1232, ttl: 0, data: new Uint8Array() };
    const reply = await replyTo(bytesOf({ additionals: [opt, opt] }));
    expect(reply).toMatchObject({ rcode: 1, questions: [{ name: "example.org" }], edns: { udpSize: 1232 } });
  });

  it("is nothing to a response", () => {
    expect(respond(bytesOf({ response: true, opcode: 5 }), "udp", "")).toBeUndefined();
  });
});

it("streams a zone over TCP, each message signed", async () => {
  const messages: Buffer[] = [];
  for await (const each of stream(signed({ type: 252 }), "203.0.113.1") ?? []) messages.push(each);
  expect(messages.map((each) => typeof readTsig(each))).toEqual(["object"]);
  expect(stream(bytesOf({ type: 6 }), "")).toBeUndefined();
});

it("survives any damaged request, and its reply is valid", async () => {
  const update = signed({
    opcode: 5,
    authorities: [{ name: "a.example.org", type: 1, class: 1, ttl: 5, data: Buffer.alloc(4) }],
  });
  const seeds = [
    update,
    signed({ type: 251 }),
    bytesOf({ opcode: 4 }),
    signed({ name: "www.example.org", type: 1 }),
    bytesOf({ type: 252 }),
  ];
  const damage = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...seeds), damage, fc.nat(200), async (seed, places, cut) => {
      const bytes = Buffer.from(seed.subarray(0, cut > 150 ? seed.length : cut));
      for (const [place, value] of places) if (place < bytes.length) bytes[place] = value;
      const reply = await respond(bytes, "udp", "192.0.2.53");
      if (reply) expect(reply.length).toBeGreaterThanOrEqual(12);
      for await (const each of stream(bytes, "192.0.2.53") ?? []) expect(each.length).toBeGreaterThanOrEqual(12);
    }),
    runs(300),
  );
  expect(troubles).toEqual([]);
});

describe("a transfer", () => {
  it("ends with REFUSED when its key is revoked, and sends no more of the zone", async () => {
    const codes: number[] = [];
    for await (const bytes of stream(signed({ name: "long.example", type: 252 }), "203.0.113.1") ?? []) {
      const tsig = readTsig(bytes);
      const decoded = decodeMessage(typeof tsig === "string" ? bytes : tsig.message);
      if (!decoded.ok) throw new Error(decoded.because);
      codes.push(decoded.message.rcode);
      revoked.add(key.name);
      if (codes.length > 1) expect(decoded.message.answers).toEqual([]);
    }
    revoked.clear();
    expect(codes).toEqual([0, 5]);
  });
});
