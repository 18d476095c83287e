import { labelsOf } from "../../core/names/name.ts";
import { highestTtl } from "../../core/records/rrset.ts";
import { flags, headerLength, types } from "./codes.ts";
import { type Edns, ednsFromRecord, writeEdns } from "./edns.ts";
import { expandRdata, MessageWriter } from "./message-writer.ts";
import { createNameReader, type ReadName } from "./read-name.ts";

/** A whole DNS message (RFC 1035 section 4). Names are canonical, so in lower case. */
export type Message = {
  readonly id: number;
  readonly opcode: number;
  /** All twelve bits: the upper eight are in the OPT record, and are lost without one. */
  readonly rcode: number;
  readonly response: boolean;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without the OPT record. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | undefined;
};

/** The defaults for a new message: a plain query. */
export const emptyMessage: Omit<Message, "id" | "questions"> = {
  opcode: 0,
  rcode: 0,
  response: false,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  answers: [],
  authorities: [],
  additionals: [],
  edns: undefined,
};

export type Question = { readonly name: string; readonly type: number; readonly class: number };

export type ResourceRecord = Question & {
  readonly ttl: number;
  /** Names in it are not compressed. */
  readonly data: Uint8Array;
};

/** Why bytes are not a message. */
export type Malformed = "short" | "bad-name" | "bad-data" | "bad-opt" | "two-opts" | "two-questions" | "bytes-behind";

export type Decoded =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly because: Malformed };

/** Strict: no byte may be left over. Time and memory are bounded by the length of the message. */
export function decodeMessage(bytes: Uint8Array): Decoded {
  if (bytes.length < headerLength) return malformed("short");
  const cursor: Cursor = { bytes, at: headerLength, readName: createNameReader(bytes) };
  const bits = u16(bytes, 2);
  // RFC 9619: no message that moor handles has more than one question.
  if (u16(bytes, 4) > 1) return malformed("two-questions");
  const questions = readAll(cursor, u16(bytes, 4), readQuestion);
  if (typeof questions === "string") return malformed(questions);
  const answers = readAll(cursor, u16(bytes, 6), readRecord);
  if (typeof answers === "string") return malformed(answers);
  const authorities = readAll(cursor, u16(bytes, 8), readRecord);
  if (typeof authorities === "string") return malformed(authorities);
  const additionals = readAll(cursor, u16(bytes, 10), readRecord);
  if (typeof additionals === "string") return malformed(additionals);
  if (cursor.at !== bytes.length) return malformed("bytes-behind");
  const opt = findOpt(answers, authorities, additionals);
  if (typeof opt === "string") return malformed(opt);
  const message: Message = {
    id: u16(bytes, 0),
    opcode: (bits >> 11) & 0xf,
    rcode: (bits & 0xf) | (opt ? (opt.ttl >>> 24) << 4 : 0),
    response: (bits & flags.response) !== 0,
    authoritative: (bits & flags.authoritative) !== 0,
    truncated: (bits & flags.truncated) !== 0,
    recursionDesired: (bits & flags.recursionDesired) !== 0,
    recursionAvailable: (bits & flags.recursionAvailable) !== 0,
    authenticData: (bits & flags.authenticData) !== 0,
    checkingDisabled: (bits & flags.checkingDisabled) !== 0,
    questions,
    answers,
    authorities,
    additionals: additionals.filter((record) => record !== opt?.record),
    edns: opt?.edns,
  };
  return { ok: true, message };
}

/** Throws when the message would be too large. */
export function encodeMessage(message: Message): Buffer {
  const writer = new MessageWriter();
  writer.u16(message.id);
  writer.u16(flagBits(message));
  writer.u16(message.questions.length);
  writer.u16(message.answers.length);
  writer.u16(message.authorities.length);
  writer.u16(message.additionals.length + (message.edns ? 1 : 0));
  for (const question of message.questions) {
    writer.name(labelsOf(question.name));
    writer.u16(question.type);
    writer.u16(question.class);
  }
  for (const record of message.answers) writeRecord(writer, record);
  for (const record of message.authorities) writeRecord(writer, record);
  if (message.edns) writeEdns(writer, message.edns, message.rcode);
  for (const record of message.additionals) writeRecord(writer, record);
  if (!writer.fits()) throw new Error("larger than a message can be");
  return writer.finish();
}

type Cursor = { readonly bytes: Uint8Array; at: number; readonly readName: ReadName };

const malformed = (because: Malformed): Decoded => ({ ok: false, because });

const u16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
const u32 = (bytes: Uint8Array, at: number): number => u16(bytes, at) * 0x10000 + u16(bytes, at + 2);

function readAll<T extends object>(
  cursor: Cursor,
  count: number,
  readOne: (cursor: Cursor) => T | Malformed,
): readonly T[] | Malformed {
  const all: T[] = [];
  for (let i = 0; i < count; i++) {
    const one = readOne(cursor);
    if (typeof one === "string") return one;
    all.push(one);
  }
  return all;
}

function readQuestion(cursor: Cursor): Question | Malformed {
  const { bytes } = cursor;
  if (cursor.at >= bytes.length) return "short";
  const read = cursor.readName(cursor.at, bytes.length);
  if (read === undefined) return "bad-name";
  if (read.end + 4 > bytes.length) return "short";
  cursor.at = read.end + 4;
  return { name: read.name.text, type: u16(bytes, read.end), class: u16(bytes, read.end + 2) };
}

function readRecord(cursor: Cursor): ResourceRecord | Malformed {
  const head = readQuestion(cursor);
  if (typeof head === "string") return head;
  const { bytes, at } = cursor;
  if (at + 6 > bytes.length) return "short";
  const start = at + 6;
  const end = start + u16(bytes, at + 4);
  if (end > bytes.length) return "short";
  const data = expandRdata(head.type, bytes, { start, end }, cursor.readName);
  if (data === undefined) return "bad-data";
  cursor.at = end;
  return { ...head, ttl: u32(bytes, at), data };
}

type Opt = { readonly record: ResourceRecord; readonly ttl: number; readonly edns: Edns };

/** RFC 6891 section 6.1.1: at most one, among the additionals, at the root. */
function findOpt(...sections: readonly (readonly ResourceRecord[])[]): Opt | undefined | Malformed {
  const optRecords = sections.flatMap((section) => section.filter((record) => record.type === types.opt));
  const [record, second] = optRecords;
  if (record === undefined) return undefined;
  if (second !== undefined) return "two-opts";
  if (record.name !== "" || !sections.at(-1)?.includes(record)) return "bad-opt";
  const edns = ednsFromRecord(record.class, record.ttl, record.data);
  return edns === undefined ? "bad-opt" : { record, ttl: record.ttl, edns };
}

const flagBits = (message: Message): number =>
  (message.response ? flags.response : 0) |
  (message.opcode << 11) |
  (message.authoritative ? flags.authoritative : 0) |
  (message.truncated ? flags.truncated : 0) |
  (message.recursionDesired ? flags.recursionDesired : 0) |
  (message.recursionAvailable ? flags.recursionAvailable : 0) |
  (message.authenticData ? flags.authenticData : 0) |
  (message.checkingDisabled ? flags.checkingDisabled : 0) |
  (message.rcode & 0xf);

function writeRecord(writer: MessageWriter, record: ResourceRecord): void {
  writer.record({ ...record, labels: labelsOf(record.name) });
}

/** RFC 2181 section 8: a TTL with its highest bit set counts as 0. */
export const ttlOf = ({ ttl }: ResourceRecord): number => (ttl > highestTtl ? 0 : ttl);

/** An SOA has two names, then five numbers; the serial is the first. Undefined for other records. */
export function soaSerialOf({ type, data }: ResourceRecord): number | undefined {
  if (type !== types.soa || data.length < 22) return undefined;
  return Buffer.from(data.subarray(-20)).readUInt32BE(0);
}

/** A message with its length prefix for TCP (RFC 1035 section 4.2.2). */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(2 + message.length);
  bytes.writeUInt16BE(message.length, 0);
  bytes.set(message, 2);
  return bytes;
}

/** A chunk of one byte takes hundreds. */
const mostChunks = 64;

/**
 * The messages of a TCP stream. Chunks are joined when a message is complete, or when there are many of them, so that
 * bytes that trickle in are copied rarely, and take no more memory than their number.
 */
export function createFrameReader() {
  let unread: Buffer = Buffer.of();
  let at = 0;
  let chunks: Buffer[] = [];
  let missing = 2;
  return {
    add: (chunk: Buffer): void => {
      chunks.push(chunk);
      if (chunks.length === mostChunks) chunks = [Buffer.concat(chunks)];
      missing -= chunk.length;
    },
    /**
     * The next message; undefined until it is complete. A message shorter than a header is returned immediately, even
     * incomplete: then the caller must end the stream.
     */
    next: (): Buffer | undefined => {
      if (missing > 0) return undefined;
      if (chunks.length > 0) {
        const [first] = chunks;
        unread =
          at === unread.length && first && chunks.length === 1
            ? first
            : Buffer.concat([unread.subarray(at), ...chunks]);
        at = 0;
        chunks = [];
      }
      const length = at + 2 <= unread.length ? unread.readUInt16BE(at) : undefined;
      const end = at + 2 + (length ?? 0);
      missing = length !== undefined && length < headerLength ? 0 : end - unread.length;
      if (missing > 0) return undefined;
      const message = unread.subarray(at + 2, end);
      at = end;
      missing = 0;
      return message;
    },
  };
}
