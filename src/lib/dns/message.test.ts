import dnsPacket from "dns-packet";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/rig/long-run.ts";
import { printLabels } from "../../core/names/label.ts";
import { labelsOf } from "../../core/names/name.ts";
import {
  createFrameReader,
  decodeMessage,
  emptyMessage,
  encodeMessage,
  framed,
  type Message,
  type ResourceRecord,
} from "./message.ts";
import { MessageWriter } from "./message-writer.ts";

const plain: Message = {
  id: 0x1234,
  ...emptyMessage,
  questions: [{ name: "www.example.org", type: 1, class: 1 }],
};

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
const header = (counts: string, bits = "0000") => `1234 ${bits} ${counts}`;
const decoded = (hex: string) => {
  const result = decodeMessage(bytesOf(hex));
  return result.ok ? result.message : result.because;
};

describe("bytes that are not a message", () => {
  it.each([
    ["nothing", "", "short"],
    ["eleven bytes", "1234 0000 0001 0000 0000 00", "short"],
    ["a missing question", header("0001 0000 0000 0000"), "short"],
    ["a question without its class", `${header("0001 0000 0000 0000")} 00 0001`, "short"],
    ["a label that goes past the end", `${header("0001 0000 0000 0000")} 05 6161`, "bad-name"],
    ["a name without its end", `${header("0001 0000 0000 0000")} 01 61`, "bad-name"],
    ["a pointer to itself", `${header("0001 0000 0000 0000")} c00c 0001 0001`, "bad-name"],
    ["a pointer forwards", `${header("0001 0000 0000 0000")} c010 0001 0001 00`, "bad-name"],
    ["a pointer into the header", `${header("0001 0000 0000 0000")} c000 0001 0001`, "bad-name"],
    ["an incomplete pointer", `${header("0001 0000 0000 0000")} c0`, "bad-name"],
    ["two pointers to each other", `${header("0001 0000 0000 0000")} 01 61 c00c 0001 0001`, "bad-name"],
    ["two questions", `${header("0002 0000 0000 0000")} 00 0001 0001 00 0001 0001`, "two-questions"],
    ["a label type that does not exist", `${header("0001 0000 0000 0000")} 41 00 0001 0001`, "bad-name"],
    ["a name of 256 bytes", `${header("0001 0000 0000 0000")} ${`01 61`.repeat(127)} 01 6100 0001 0001`, "bad-name"],
    ["bytes after the last section", `${header("0001 0000 0000 0000")} 00 0001 0001 ff`, "bytes-behind"],
    ["data that goes past the end", `${header("0000 0001 0000 0000")} 00 0001 0001 00000000 0004 c00002`, "short"],
    ["an MX without its name", `${header("0000 0001 0000 0000")} 00 000f 0001 00000000 0002 000a`, "bad-data"],
    ["an NS with bytes after its name", `${header("0000 0001 0000 0000")} 00 0002 0001 00000000 0002 0000`, "bad-data"],
    ["an OPT that has a name", `${header("0000 0000 0000 0001")} 01 61 00 0029 04d0 00000000 0000`, "bad-opt"],
    ["an OPT among the answers", `${header("0000 0001 0000 0000")} 00 0029 04d0 00000000 0000`, "bad-opt"],
    [
      "an OPT with an incomplete option",
      `${header("0000 0000 0000 0001")} 00 0029 04d0 00000000 0003 000a00`,
      "bad-opt",
    ],
    ["two OPTs", `${header("0000 0000 0000 0002")} ${"00 0029 04d0 00000000 0000".repeat(2)}`, "two-opts"],
  ])("%s", (_, hex, because) => {
    expect(decoded(hex)).toBe(because);
  });

  it("include a name of 256 bytes, but not one of 255", () => {
    const name = `${"01 61".repeat(127)} 00`;
    expect(decoded(`${header("0001 0000 0000 0000")} ${name} 0001 0001`)).toMatchObject({ questions: [{ type: 1 }] });
  });
});

describe("a message with many pointers to one name", () => {
  /** This many records, each with two pointers to one long name. */
  const bomb = (records: number): Uint8Array => {
    const long = Buffer.concat([...Array(126).fill(Buffer.of(1, 0x61)), Buffer.of(0)]);
    const record = Buffer.from("c00c000200010000000000 02c00c".replaceAll(" ", ""), "hex");
    const head = Buffer.from(`1234000000010000${records.toString(16).padStart(4, "0")}0000`, "hex");
    head.writeUInt16BE(records, 6);
    head.writeUInt16BE(0, 8);
    return Buffer.concat([head, long, Buffer.from("00010001", "hex"), ...Array<Buffer>(records).fill(record)]);
  };

  it("is read while it stays small", () => {
    expect(decodeMessage(bomb(5))).toMatchObject({ ok: true });
  });

  it("is refused when its names become much larger than the message", () => {
    expect(decodeMessage(bomb(4_000))).toMatchObject({ ok: false, because: "bad-name" });
  });
});

it("a long chain of pointers to pointers is refused", () => {
  const chain = (length: number): Buffer => {
    // The data of a record of unknown type contains the chain; the name of the next record is its end.
    const head = Buffer.from("123400000000000200000000 00 ff00000100000000".replaceAll(" ", ""), "hex");
    const start = head.length + 2;
    const pointers = Array.from({ length }, (_, i) => u16Bytes(0xc000 | (i === 0 ? 12 : start + 2 * (i - 1))));
    const record = Buffer.from("00010001000000000000", "hex");
    const last = u16Bytes(0xc000 | (start + 2 * (length - 1)));
    return Buffer.concat([head, u16Bytes(2 * length), ...pointers, last, record]);
  };
  expect(decodeMessage(chain(100))).toMatchObject({ ok: true });
  expect(decodeMessage(chain(8_000))).toMatchObject({ ok: false, because: "bad-name" });
});

function u16Bytes(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

describe("compression", () => {
  const soa: ResourceRecord = {
    name: "example.org",
    type: 6,
    class: 1,
    ttl: 60,
    data: bytesOf(`026e73 07${hexOf("example")} 03${hexOf("org")}00 0161 07${hexOf("example")} 03${hexOf("org")}00
      00000001 00000002 00000003 00000004 00000005`),
  };

  it("writes the common end of names once, in owners and in the data of old types", () => {
    const bytes = encodeMessage({ ...plain, authorities: [soa] });
    expect(bytes.toString("latin1").split("example")).toHaveLength(2);
    expect(decodeMessage(bytes)).toMatchObject({ message: { authorities: [soa] } });
  });

  it("does not compress the data of newer types", () => {
    const srv = { ...soa, type: 33, data: bytesOf(`0000 0000 0000 07${hexOf("example")} 03${hexOf("org")} 00`) };
    const bytes = encodeMessage({ ...plain, answers: [srv] });
    expect(bytes.toString("latin1").split("example")).toHaveLength(3);
  });

  it("reads a compressed SRV, which old servers send", () => {
    const question = `01 61 00 0021 0001`;
    expect(
      decoded(`${header("0001 0001 0000 0000")} ${question} c00c 0021 0001 00000000 0008 000000000000 c00c`),
    ).toMatchObject({ answers: [{ data: bytesOf("000000000000 016100") }] });
  });

  it("drops what does not fit", () => {
    const writer = new MessageWriter(40);
    writer.record({ ...soa, labels: labelsOf(soa.name) });
    expect([writer.fits(), writer.length() <= 40]).toEqual([false, true]);
    const large = { ...soa, type: 16, data: new Uint8Array(40_000) };
    expect(() => encodeMessage({ ...plain, answers: [large, large] })).toThrow("larger than a message can be");
  });

  it("points only as far as fourteen bits reach", () => {
    const filler = { ...soa, name: "filler", type: 16, data: new Uint8Array(20_000) };
    const late = [filler, { ...soa, name: "late.net", type: 16 }, { ...soa, name: "late.net", type: 16 }];
    const bytes = encodeMessage({ ...plain, answers: late });
    expect(decodeMessage(bytes)).toMatchObject({ message: { answers: late } });
  });
});

function hexOf(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9-]{1,10}$/),
  fc
    .uint8Array({ minLength: 1, maxLength: 5 })
    .map((bytes) => Buffer.from(bytes).toString("latin1").replaceAll(/[A-Z]/g, "x")),
);
const name = fc.array(fc.oneof(label, fc.constantFrom("example", "org", "a")), { maxLength: 8 }).map(printLabels);
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const wireName = name.map((text) => {
  const bytes = encodeMessage({ ...plain, questions: [{ name: text, type: 0, class: 0 }] });
  return bytes.subarray(12, -4);
});
const typeAndData = fc.oneof(
  fc.tuple(fc.constantFrom(1, 16, 28, 257, 65_280), fc.uint8Array({ maxLength: 40 })),
  fc.tuple(fc.constantFrom(2, 5, 12, 39), wireName),
  fc.tuple(
    fc.constant(15),
    fc.tuple(fc.uint8Array({ minLength: 2, maxLength: 2 }), wireName).map((parts) => Buffer.concat(parts)),
  ),
  fc.tuple(
    fc.constant(6),
    fc.tuple(wireName, wireName, fc.uint8Array({ minLength: 20, maxLength: 20 })).map((parts) => Buffer.concat(parts)),
  ),
);
const record = fc.tuple(name, typeAndData, u16, u32).map(([owner, [type, data], recordClass, ttl]) => ({
  name: owner,
  type,
  class: recordClass,
  ttl,
  data: Uint8Array.from(data),
}));
const records = fc.array(record, { maxLength: 4 });
const option = fc.record({ code: u16, data: fc.uint8Array({ maxLength: 9 }).map((data) => Uint8Array.from(data)) });
const edns = fc.record({
  udpSize: u16,
  version: fc.integer({ min: 0, max: 255 }),
  dnssecOk: fc.boolean(),
  options: fc.array(option, { maxLength: 3 }),
});
const message: fc.Arbitrary<Message> = fc
  .record({
    id: u16,
    opcode: fc.integer({ min: 0, max: 15 }),
    rcode: fc.integer({ min: 0, max: 4095 }),
    response: fc.boolean(),
    authoritative: fc.boolean(),
    truncated: fc.boolean(),
    recursionDesired: fc.boolean(),
    recursionAvailable: fc.boolean(),
    authenticData: fc.boolean(),
    checkingDisabled: fc.boolean(),
    questions: fc.array(fc.record({ name, type: u16, class: u16 }), { maxLength: 1 }),
    answers: records,
    authorities: records,
    additionals: records,
    edns: fc.option(edns, { nil: undefined }),
  })
  .map((made) => ({ ...made, rcode: made.edns ? made.rcode : made.rcode & 0xf }));

describe("laws", () => {
  it("messages survive a round trip", () => {
    fc.assert(
      fc.property(message, (made) => {
        expect(decodeMessage(encodeMessage(made))).toEqual({ ok: true, message: made });
      }),
      runs(80),
    );
  });

  it("any bytes are either refused, or a message that survives a round trip", () => {
    const mutated = fc
      .tuple(message, fc.array(fc.tuple(fc.nat(600), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }))
      .map(([made, edits]) => {
        const bytes = encodeMessage(made);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        return Uint8Array.from(bytes);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
        const read = decodeMessage(bytes);
        if (!read.ok) return;
        expect(decodeMessage(encodeMessage(read.message))).toEqual(read);
      }),
      runs(200),
    );
  });

  it("every truncated message is refused", () => {
    fc.assert(
      fc.property(message, fc.double({ min: 0, max: 0.999, noNaN: true }), (made, part) => {
        const bytes = encodeMessage(made);
        expect(decodeMessage(bytes.subarray(0, Math.floor(bytes.length * part)))).toMatchObject({ ok: false });
      }),
    );
  });
});

/** The records that dns-packet and moor encode to the same bytes. */
const known = fc.oneof(
  fc.record({ type: fc.constant("A" as const), data: fc.ipV4() }),
  fc.record({ type: fc.constant("AAAA" as const), data: fc.ipV6() }),
  fc.record({ type: fc.constantFrom("NS" as const, "CNAME" as const, "PTR" as const), data: fc.domain() }),
  fc.record({ type: fc.constant("MX" as const), data: fc.record({ preference: u16, exchange: fc.domain() }) }),
  fc.record({
    type: fc.constant("TXT" as const),
    data: fc.array(fc.stringMatching(/^[a-z ]{1,20}$/), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant("SRV" as const),
    data: fc.record({ priority: u16, weight: u16, port: u16, target: fc.domain() }),
  }),
);
const packet = fc.record({
  id: u16,
  type: fc.constant("response" as const),
  questions: fc.array(fc.record({ name: fc.domain(), type: fc.constantFrom("A" as const, "MX" as const) }), {
    minLength: 1,
    maxLength: 1,
  }),
  answers: fc.array(
    fc.tuple(fc.domain(), known, u32).map(([owner, rest, ttl]) => ({ name: owner, ttl, ...rest })),
    { maxLength: 5 },
  ),
});

describe("dns-packet as the oracle", () => {
  it("decodes moor's messages and its own to the same content", () => {
    fc.assert(
      fc.property(packet, (made) => {
        const theirs = dnsPacket.encode(made as dnsPacket.Packet);
        const ours = decodeMessage(theirs);
        if (!ours.ok) throw new Error(ours.because);
        const back = dnsPacket.decode(encodeMessage(ours.message));
        expect(readable(back)).toEqual(readable(dnsPacket.decode(theirs)));
        expect(ours.message.id).toBe(made.id);
        expect(ours.message.answers.map((each) => each.name)).toEqual(
          made.answers.map((each) => each.name.toLowerCase()),
        );
      }),
    );
  });

  it("agrees about flags and EDNS", () => {
    const theirs = dnsPacket.encode({
      id: 7,
      type: "query",
      flags: dnsPacket.RECURSION_DESIRED | dnsPacket.CHECKING_DISABLED,
      questions: [{ name: "a.org", type: "A" }],
      additionals: [{ name: ".", type: "OPT", udpPayloadSize: 4096, flags: dnsPacket.DNSSEC_OK, options: [] }] as never,
    });
    expect(decodeMessage(theirs)).toMatchObject({
      message: { recursionDesired: true, checkingDisabled: true, edns: { udpSize: 4096, version: 0, dnssecOk: true } },
    });
  });
});

function readable(packetRead: dnsPacket.DecodedPacket): unknown {
  return JSON.parse(JSON.stringify(packetRead).toLowerCase());
}

it("a message that trickles in is read whole, and few of its chunks are kept", () => {
  const message = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 200));
  const frames = createFrameReader();
  const chunks = Array.from(framed(message), (byte) => Buffer.of(byte));
  for (const chunk of chunks) {
    expect(frames.next()).toBeUndefined();
    frames.add(chunk);
  }
  // What was copied does not change any more.
  for (const chunk of chunks) chunk[0] = 255;
  const read = frames.next() ?? Buffer.of();
  expect(read.filter((byte) => byte === 255).length).toBeLessThan(64);
  expect(read.map((byte, i) => (byte === 255 ? (message[i] ?? 0) : byte))).toEqual(message);
});
