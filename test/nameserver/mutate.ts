import { encodeMessage, type Message } from "../../src/lib/dns/message.ts";
import { pick, type Random } from "../rig/random.ts";
import { queryFor } from "./ask-over-tcp.ts";

/** Messages to start from: plain and odd questions, and what only other servers send. */
export function seedMessages(names: readonly string[]): readonly Buffer[] {
  const messages: Message[] = [];
  for (const name of names) {
    for (const type of [1, 2, 5, 6, 15, 16, 28, 33, 43, 251, 252, 255, 65_280]) {
      const query = queryFor({ name, type }, 1);
      const edns = { udpSize: 1_232, version: 0, dnssecOk: true, options: [{ code: 10, data: new Uint8Array(8) }] };
      messages.push(query, { ...query, edns: { ...edns, options: [] } }, { ...query, edns });
    }
  }
  const [first] = messages;
  if (first === undefined) throw new Error("no names");
  const record = { name: names[0] ?? "", type: 15, class: 1, ttl: 60, data: Uint8Array.of(0, 10, 1, 0x61, 0) };
  const soa = { ...record, type: 6, data: new Uint8Array(22) };
  messages.push(
    { ...first, response: true, answers: Array(20).fill(record), authorities: [soa] },
    { ...first, opcode: 4, answers: [soa] },
    { ...first, opcode: 5, authorities: [record], additionals: [record] },
    { ...first, questions: [{ name: names[0] ?? "", type: 251, class: 1 }], authorities: [soa] },
  );
  return messages.map(encodeMessage);
}

/** One to eight kinds of damage. */
export function mutate(random: Random, seeds: readonly Buffer[]): Buffer {
  let bytes: Buffer = Buffer.from(pick(random, seeds));
  for (let left = random(8); left >= 0; left--) bytes = pick(random, damages)(bytes, random, seeds);
  return bytes;
}

type Damage = (bytes: Buffer, random: Random, seeds: readonly Buffer[]) => Buffer;

const at = (bytes: Buffer, random: Random): number => random(Math.max(1, bytes.length));

const damages: readonly Damage[] = [
  (bytes, random) => bytes.fill(random(256), Math.min(bytes.length, at(bytes, random))),
  (bytes, random) => {
    const place = at(bytes, random);
    if (place < bytes.length) bytes[place] = (bytes[place] ?? 0) ^ (1 << random(8));
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, at(bytes, random)),
  (bytes, random) => Buffer.concat([bytes, Buffer.alloc(random(40), random(256))]),
  // A pointer, usually backwards to where names are.
  (bytes, random) => {
    const place = at(bytes, random);
    if (place + 1 < bytes.length) bytes.writeUInt16BE(0xc000 | random(random(4) === 0 ? 0x4000 : 64), place);
    return bytes;
  },
  // Wrong counts and lengths.
  (bytes, random) => {
    if (bytes.length >= 12) bytes.writeUInt16BE(random(2) === 0 ? random(4) : random(0x10000), 4 + 2 * random(4));
    return bytes;
  },
  (bytes, random, seeds) => {
    const other = pick(random, seeds);
    return Buffer.concat([bytes.subarray(0, at(bytes, random)), other.subarray(at(other, random))]);
  },
  // Endless names, and names that repeat a single label.
  (bytes, random) => {
    const label = Buffer.alloc(1 + random(63), 0x61);
    label[0] = label.length - 1;
    return Buffer.concat([bytes.subarray(0, 12), ...Array<Buffer>(random(130)).fill(label), bytes.subarray(12)]);
  },
  // Many records that all point at one name.
  (bytes, random) => {
    if (bytes.length < 12) return bytes;
    const count = random(random(200) === 0 ? 5_000 : 40);
    bytes.writeUInt16BE(count, 10);
    const record = Buffer.from("c00c000200010000000000 02c00c".replace(" ", ""), "hex");
    return Buffer.concat([bytes, ...Array<Buffer>(count).fill(record)]);
  },
  (bytes) => Buffer.from(bytes.toString("latin1").toUpperCase(), "latin1"),
];
