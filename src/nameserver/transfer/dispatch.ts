import type { Instant } from "../../core/instant.ts";
import { nameToWire } from "../../core/names/wire.ts";
import type { Unmet } from "../../core/records/dns-update.ts";
import { classes, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import { udpSizeLimit } from "../../lib/dns/edns.ts";
import { decodeMessage, type Message } from "../../lib/dns/message.ts";
import { type AddTsig, type CheckedRequest, checkRequest, type TsigKey, tsigLength } from "../../lib/dns/tsig.ts";
import { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import type { LoadedZones } from "../answer/loaded-zones.ts";
import { refuseUnread, truncate } from "../answer/reply.ts";
import type { DnsReply, Respond, RespondTo, Stream } from "../answer/respond.ts";
import { countTransfer, type DnsCounters } from "../metrics/metrics.ts";
import type { Transport } from "../wire/read-query.ts";
import { readUpdate, type UpdateRequest } from "../wire/update-read.ts";
import { CachedTransfers } from "./cached-transfers.ts";
import { asksBelow, classify } from "./classify.ts";
import { type ChangesBetween, codeReply, transferOut } from "./out.ts";

/** The client's address, and its key if the request has a valid signature. */
export type TransferClient = { readonly from: string; readonly key: string | undefined };

/** What the nameserver needs for everything but plain queries. */
export type TransferPorts = {
  readonly keyNamed: (name: string) => Promise<TsigKey | undefined>;
  readonly mayTransfer: (zone: string, client: TransferClient) => Promise<boolean>;
  /** Changes whenever the result of `mayTransfer` may have changed: a running transfer is then checked again. */
  readonly accessVersion: () => number;
  readonly changesBetween: ChangesBetween;
  /** A message that was processed already, recognised by its signature, is not processed again. */
  readonly update: (request: UpdateRequest, client: TransferClient, signature: string) => Promise<UpdateOutcome>;
  /** Another server says that a zone has changed. */
  readonly notified: (zone: string, client: TransferClient) => Promise<"taken" | "refused" | "not-ours">;
  /** The catalog zone: only clients that may transfer it may query it, because it names all other zones. */
  readonly restrictedZone: string | undefined;
};

export type UpdateOutcome = "done" | "not-ours" | "refused" | Unmet;

export type DispatcherOptions = {
  /** For plain queries. */
  readonly respond: Respond;
  readonly zones: LoadedZones;
  readonly ports: TransferPorts;
  readonly now: () => Instant;
  readonly onTrouble: (error: unknown) => void;
  readonly counters?: DnsCounters;
};

/** Handles every kind of request: queries, with TSIG or without, transfers, NOTIFY messages and updates. */
export class RequestDispatcher {
  readonly #options: DispatcherOptions;
  readonly #schedule = new FairSchedule();
  readonly #packed = new CachedTransfers(this.#schedule);
  readonly #restricted: Uint8Array | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { restrictedZone } = options.ports;
    this.#restricted = restrictedZone === undefined ? undefined : nameToWire(restrictedZone);
  }

  readonly respond: RespondTo = (bytes, transport, from, allowedWork = "any") => {
    const kind = classify(bytes);
    if (kind === "plain" && !this.#asksRestricted(bytes)) return this.#options.respond(bytes, transport, allowedWork);
    if (allowedWork !== "any") return undefined;
    switch (kind) {
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
    classify(bytes) === "transfer" ? this.#transfer(bytes, "tcp", from) : undefined;

  #asksRestricted(bytes: Buffer): boolean {
    return this.#restricted !== undefined && asksBelow(bytes, this.#restricted);
  }

  async #respondTo(bytes: Buffer, transport: Transport, from: string): Promise<DnsReply> {
    const request = await readRequest(bytes, transport, from, this.#options);
    if ("reply" in request) return request.reply;
    const reply = await this.#answer(request).catch((error: unknown) => this.#failed(request.message, error));
    return reply && withTsig(reply, request);
  }

  async #answer(request: Request): Promise<DnsReply> {
    const { respond: answer, ports } = this.#options;
    const { bytes, message, client } = request;
    switch (message.opcode) {
      case opcodes.query: {
        const isRefused = this.#asksRestricted(bytes) && !(await ports.mayTransfer(ports.restrictedZone ?? "", client));
        return isRefused ? codeReply(message, rcodes.refused) : await answer(bytes, request.transport);
      }
      case opcodes.notify:
        return codeReply(message, await notifyCode(message, client, ports));
      case opcodes.update:
        return codeReply(message, await updateCode(request, ports));
      default:
        return await answer(bytes, request.transport);
    }
  }

  async *#transfer(bytes: Buffer, transport: Transport, from: string): AsyncGenerator<Buffer> {
    const request = await readRequest(bytes, transport, from, this.#options);
    if ("reply" in request) return yield request.reply;
    const { message, addTsig } = request;
    try {
      const [question] = message.questions;
      if (question === undefined || message.questions.length > 1)
        return yield addTsig(codeReply(message, rcodes.formErr));
      yield* this.#transferZone(request, question);
    } catch (error) {
      this.#count(message, "failed");
      yield addTsig(this.#failed(message, error));
    }
  }

  async *#transferZone(request: Request, question: Message["questions"][number]): AsyncGenerator<Buffer> {
    const { message, transport, addTsig, tsigLength, client } = request;
    const { zones, ports } = this.#options;
    const { changesBetween } = ports;
    let version = ports.accessVersion();
    if (question.class !== classes.in || !(await ports.mayTransfer(question.name, client)))
      return yield addTsig(this.#refused(message));
    let isTransferred = true;
    const tools = { zones, changesBetween, packed: this.#packed, pause: () => this.#schedule.next(0) };
    for await (const each of transferOut({ message, transport, room: tsigLength }, tools)) {
      const now = ports.accessVersion();
      if (now !== version && !(await ports.mayTransfer(question.name, client)))
        return yield addTsig(this.#refused(message));
      version = now;
      isTransferred = ((each[3] ?? 0) & 0xf) === rcodes.noError;
      yield addTsig(each);
    }
    this.#count(message, isTransferred ? "done" : "refused");
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
  /** Without the TSIG record. */
  readonly bytes: Buffer;
  readonly message: Message;
  readonly transport: Transport;
  readonly client: TransferClient;
  /** Of the TSIG record; empty without one. */
  readonly mac: string;
  readonly addTsig: AddTsig;
  readonly tsigLength: number;
};

const opcodeOf = (bytes: Buffer): number => ((bytes[2] ?? 0) >> 3) & 0xf;

/** In bytes. A query or a NOTIFY is never longer, except for a signature, which may contain long names. */
const longestUnsigned = 4_096;

/**
 * Anybody can send a request without a valid signature, so its records are not read if they cannot matter: of 60 KB,
 * that would take milliseconds.
 */
const isNotRead = ({ kind }: CheckedRequest, bytes: Buffer): boolean =>
  kind !== "with-tsig" && (opcodeOf(bytes) === opcodes.update || bytes.length > longestUnsigned);

/** The request and its sender, or the reply to an invalid request. */
async function readRequest(
  bytes: Buffer,
  transport: Transport,
  from: string,
  { ports, now, onTrouble, respond }: DispatcherOptions,
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
            ? checked.addTsig(refuseUnread(checked.message, rcodes.notAuth))
            : refuseUnread(bytes, opcodeOf(bytes) === opcodes.update ? rcodes.refused : rcodes.formErr),
      };
    if (checked.kind === "malformed") return { reply: refuseUnread(bytes, rcodes.formErr) };
    const plain = checked.kind === "no-tsig" ? bytes : checked.message;
    const decoded = decodeMessage(plain);
    if (!decoded.ok) {
      const isQuery = checked.kind === "no-tsig" && opcodeOf(bytes) === opcodes.query;
      // It says so with EDNS, if the query has EDNS.
      const refusal = isQuery ? await respond(bytes, transport) : undefined;
      return { reply: refusal ?? refuseUnread(bytes, rcodes.formErr) };
    }
    const { message } = decoded;
    if (checked.kind === "failed") return { reply: checked.addTsig(codeReply(message, rcodes.notAuth)) };
    const key = checked.kind === "with-tsig" ? checked.key : undefined;
    const addTsig = checked.kind === "with-tsig" ? checked.addTsig : (reply: Buffer) => reply;
    if (message.edns !== undefined && message.edns.version !== 0) {
      return { reply: addTsig(codeReply(message, rcodes.badVers)) };
    }
    const client = { from, key: key?.name };
    const mac = checked.kind === "with-tsig" ? checked.signature : "";
    return { bytes: plain, message, transport, client, mac, addTsig, tsigLength: key ? tsigLength(key) : 0 };
  } catch (error) {
    onTrouble(error);
    return { reply: refuseUnread(bytes, rcodes.servFail) };
  }
}

/** A reply that does not fit in a datagram together with its signature is truncated: the client retries over TCP. */
function withTsig(reply: Buffer, { bytes, message, transport, addTsig, tsigLength }: Request): Buffer {
  if (tsigLength === 0) return reply;
  return addTsig(
    transport === "udp" && reply.length + tsigLength > udpSizeLimit(message.edns) ? truncate(reply, bytes) : reply,
  );
}

async function notifyCode(message: Message, client: TransferClient, ports: TransferPorts): Promise<number> {
  const [question] = message.questions;
  if (question === undefined || message.questions.length > 1) return rcodes.formErr;
  // RFC 1996 section 3.8: a NOTIFY is only ever about an SOA.
  if (question.type !== types.soa) return rcodes.notImp;
  if (question.class !== classes.in) return rcodes.notAuth;
  switch (await ports.notified(question.name, client)) {
    case "taken":
      return rcodes.noError;
    case "refused":
      return rcodes.refused;
    case "not-ours":
      return rcodes.notAuth;
  }
}

async function updateCode({ message, client, mac }: Request, ports: TransferPorts): Promise<number> {
  if (client.key === undefined) return rcodes.refused;
  const request = readUpdate(message);
  if (typeof request === "number") return request;
  return codeOf[await ports.update(request, client, mac)];
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
