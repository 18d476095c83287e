import type { Instant } from "../../core/instant.ts";
import { nameToWire } from "../../core/names/wire.ts";
import type { Unmet } from "../../core/records/dns-update.ts";
import { classes, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import { udpRoomFor } from "../../lib/dns/edns.ts";
import { decodeMessage, type Message } from "../../lib/dns/message.ts";
import { type CheckedRequest, checkRequest, type MessageSigner, type TsigKey, tsigRoom } from "../../lib/dns/tsig.ts";
import { createFairSchedule } from "../../lib/limits/fair-schedule.ts";
import type { LoadedZones } from "../answer/loaded-zones.ts";
import { cutShort, refuseUnread } from "../answer/reply.ts";
import type { DnsReply, Respond, RespondTo, Stream } from "../answer/respond.ts";
import { countTransfer, type DnsCounters } from "../metrics/metrics.ts";
import type { Transport } from "../wire/read-query.ts";
import { readUpdate, type UpdateRequest } from "../wire/update-read.ts";
import { asksBelow, glanceAt } from "./glance.ts";
import { type ChangesBetween, codeReply, transferOut } from "./out.ts";
import { createPackedZones } from "./packed-zones.ts";

/** The client's address, and its key if the request has a valid signature. */
export type TransferClient = { readonly from: string; readonly key: string | undefined };

/** What the nameserver needs for everything but plain queries. */
export type TransferPorts = {
  readonly keyNamed: (name: string) => Promise<TsigKey | undefined>;
  readonly mayTransfer: (zone: string, asker: TransferClient) => Promise<boolean>;
  /** Changes whenever the result of `mayTransfer` may have changed: a running transfer is then checked again. */
  readonly accessVersion: () => number;
  readonly changesBetween: ChangesBetween;
  /** A message that was processed already, recognised by its signature, is not processed again. */
  readonly update: (request: UpdateRequest, asker: TransferClient, signature: string) => Promise<UpdateOutcome>;
  /** Another server says that a zone has changed. */
  readonly notified: (zone: string, asker: TransferClient) => Promise<"taken" | "refused" | "not-ours">;
  /** The catalog zone: only clients that may transfer it may query it, because it names all other zones. */
  readonly hidden: string | undefined;
};

export type UpdateOutcome = "done" | "not-ours" | "refused" | Unmet;

export type ExchangeOptions = {
  /** For plain queries. */
  readonly respond: Respond;
  readonly zones: LoadedZones;
  readonly ports: TransferPorts;
  readonly now: () => Instant;
  readonly onTrouble: (error: unknown) => void;
  readonly counters?: DnsCounters;
};

/** Handles every kind of request: queries, signed or not, transfers, NOTIFY messages and updates. */
export const createExchange = (options: ExchangeOptions): Exchange => new RequestExchange(options);

export type Exchange = { readonly respond: RespondTo; readonly stream: Stream };

class RequestExchange implements Exchange {
  readonly #options: ExchangeOptions;
  readonly #schedule = createFairSchedule();
  readonly #packed = createPackedZones(this.#schedule);
  readonly #hidden: Uint8Array | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { hidden } = options.ports;
    this.#hidden = hidden === undefined ? undefined : nameToWire(hidden);
  }

  readonly respond: RespondTo = (bytes, transport, from, effort = "any") => {
    const glance = glanceAt(bytes);
    if (glance === "plain" && !this.#asksHidden(bytes)) return this.#options.respond(bytes, transport, effort);
    if (effort !== "any") return undefined;
    switch (glance) {
      case "silence":
        return undefined;
      case "transfer":
        return firstOf(this.#transfer(bytes, transport, from));
      case "plain":
      case "other":
        return this.#respondTo(bytes, transport, from);
    }
  };

  readonly stream: Stream = (bytes, from) =>
    glanceAt(bytes) === "transfer" ? this.#transfer(bytes, "tcp", from) : undefined;

  #asksHidden(bytes: Buffer): boolean {
    return this.#hidden !== undefined && asksBelow(bytes, this.#hidden);
  }

  async #respondTo(bytes: Buffer, transport: Transport, from: string): Promise<DnsReply> {
    const request = await readRequest(bytes, transport, from, this.#options);
    if ("reply" in request) return request.reply;
    const reply = await this.#answerSigned(request).catch((error: unknown) => this.#failed(request.message, error));
    return reply && signed(reply, request);
  }

  async #answerSigned(request: Request): Promise<DnsReply> {
    const { respond: answer, ports } = this.#options;
    const { bytes, message, asker } = request;
    switch (message.opcode) {
      case opcodes.query: {
        const isRefused = this.#asksHidden(bytes) && !(await ports.mayTransfer(ports.hidden ?? "", asker));
        return isRefused ? codeReply(message, rcodes.refused) : await answer(bytes, request.transport);
      }
      case opcodes.notify:
        return codeReply(message, await notifyCode(message, asker, ports));
      case opcodes.update:
        return codeReply(message, await updateCode(request, ports));
      default:
        return await answer(bytes, request.transport);
    }
  }

  async *#transfer(bytes: Buffer, transport: Transport, from: string): AsyncGenerator<Buffer> {
    const request = await readRequest(bytes, transport, from, this.#options);
    if ("reply" in request) return yield request.reply;
    const { message, sign } = request;
    try {
      const [question] = message.questions;
      if (question === undefined || message.questions.length > 1) return yield sign(codeReply(message, rcodes.formErr));
      yield* this.#transferZone(request, question);
    } catch (error) {
      this.#count(message, "failed");
      yield sign(this.#failed(message, error));
    }
  }

  async *#transferZone(request: Request, question: Message["questions"][number]): AsyncGenerator<Buffer> {
    const { message, transport, sign, room, asker } = request;
    const { zones, ports } = this.#options;
    const { changesBetween } = ports;
    let version = ports.accessVersion();
    if (question.class !== classes.in || !(await ports.mayTransfer(question.name, asker)))
      return yield sign(this.#refused(message));
    let given = true;
    const tools = { zones, changesBetween, packed: this.#packed, pause: () => this.#schedule.next(0) };
    for await (const each of transferOut({ message, transport, room }, tools)) {
      const now = ports.accessVersion();
      if (now !== version && !(await ports.mayTransfer(question.name, asker)))
        return yield sign(this.#refused(message));
      version = now;
      given = ((each[3] ?? 0) & 0xf) === rcodes.noError;
      yield sign(each);
    }
    this.#count(message, given ? "done" : "refused");
  }

  #refused(message: Message): Buffer {
    this.#count(message, "refused");
    return codeReply(message, rcodes.refused);
  }

  #failed(message: Message, error: unknown): Buffer {
    this.#options.onTrouble(error);
    return codeReply(message, rcodes.servFail);
  }

  #count({ questions: [question] }: Message, result: "done" | "refused" | "failed"): void {
    const { counters } = this.#options;
    if (counters) countTransfer(counters, "out", question?.type === types.ixfr ? "ixfr" : "axfr", result);
  }
}

async function firstOf(messages: AsyncIterable<Buffer>): Promise<DnsReply> {
  for await (const message of messages) return message;
  return undefined;
}

type Request = {
  /** Without the signature. */
  readonly bytes: Buffer;
  readonly message: Message;
  readonly transport: Transport;
  readonly asker: TransferClient;
  /** Empty when it is not signed. */
  readonly signature: string;
  readonly sign: MessageSigner;
  readonly room: number;
};

const opcodeOf = (bytes: Buffer): number => ((bytes[2] ?? 0) >> 3) & 0xf;

/** In bytes. A query or a NOTIFY is never longer, except for a signature, which may contain long names. */
const longestUnsigned = 4_096;

/**
 * Anybody can send a request without a valid signature, so its records are not read if they cannot matter: of 60 KB,
 * that would take milliseconds.
 */
const isNotRead = ({ kind }: CheckedRequest, bytes: Buffer): boolean =>
  kind !== "signed" && (opcodeOf(bytes) === opcodes.update || bytes.length > longestUnsigned);

/** The request and its sender, or the reply to an invalid request. */
async function readRequest(
  bytes: Buffer,
  transport: Transport,
  from: string,
  { ports, now, onTrouble }: ExchangeOptions,
): Promise<Request | { readonly reply: Buffer }> {
  try {
    // Without an additional record there is no signature.
    if (opcodeOf(bytes) === opcodes.update && bytes.readUInt16BE(10) === 0)
      return { reply: refuseUnread(bytes, rcodes.refused) };
    const checked = await checkRequest(bytes, ports.keyNamed, now);
    if (checked.kind !== "malformed" && isNotRead(checked, bytes))
      return {
        reply:
          checked.kind === "failed"
            ? checked.sign(refuseUnread(checked.message, rcodes.notAuth))
            : refuseUnread(bytes, opcodeOf(bytes) === opcodes.update ? rcodes.refused : rcodes.formErr),
      };
    if (checked.kind === "malformed") return { reply: refuseUnread(bytes, rcodes.formErr) };
    const plain = checked.kind === "unsigned" ? bytes : checked.message;
    const decoded = decodeMessage(plain);
    if (!decoded.ok) return { reply: refuseUnread(bytes, rcodes.formErr) };
    const { message } = decoded;
    if (checked.kind === "failed") return { reply: checked.sign(codeReply(message, rcodes.notAuth)) };
    const key = checked.kind === "signed" ? checked.key : undefined;
    const sign = checked.kind === "signed" ? checked.sign : (reply: Buffer) => reply;
    if (message.edns !== undefined && message.edns.version !== 0) {
      return { reply: sign(codeReply(message, rcodes.badVers)) };
    }
    const asker = { from, key: key?.name };
    const signature = checked.kind === "signed" ? checked.signature : "";
    return { bytes: plain, message, transport, asker, signature, sign, room: key ? tsigRoom(key) : 0 };
  } catch (error) {
    onTrouble(error);
    return { reply: refuseUnread(bytes, rcodes.servFail) };
  }
}

/** A reply that does not fit in a datagram together with its signature is truncated: the client retries over TCP. */
function signed(reply: Buffer, { bytes, message, transport, sign, room }: Request): Buffer {
  if (room === 0) return reply;
  return sign(transport === "udp" && reply.length + room > udpRoomFor(message.edns) ? cutShort(reply, bytes) : reply);
}

async function notifyCode(message: Message, asker: TransferClient, ports: TransferPorts): Promise<number> {
  const [question] = message.questions;
  if (question === undefined || message.questions.length > 1) return rcodes.formErr;
  // RFC 1996 section 3.8: a NOTIFY is only ever about an SOA.
  if (question.type !== types.soa) return rcodes.notImp;
  if (question.class !== classes.in) return rcodes.notAuth;
  switch (await ports.notified(question.name, asker)) {
    case "taken":
      return rcodes.noError;
    case "refused":
      return rcodes.refused;
    case "not-ours":
      return rcodes.notAuth;
  }
}

async function updateCode({ message, asker, signature }: Request, ports: TransferPorts): Promise<number> {
  if (asker.key === undefined) return rcodes.refused;
  const request = readUpdate(message);
  if (typeof request === "number") return request;
  return codeOf[await ports.update(request, asker, signature)];
}

const codeOf: Readonly<Record<UpdateOutcome, number>> = {
  done: rcodes.noError,
  "not-ours": rcodes.notAuth,
  refused: rcodes.refused,
  "name-exists": rcodes.yxDomain,
  "name-missing": rcodes.nxDomain,
  "set-exists": rcodes.yxRrset,
  "set-missing": rcodes.nxRrset,
};
