import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { addAbortListener, on } from "node:events";
import { connect, isIPv6, type Socket } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { connectOverTls, type PeerTls } from "../tls/tls-peer.ts";
import { headerLength } from "./codes.ts";
import type { Edns } from "./edns.ts";
import {
  createFrameReader,
  decodeMessage,
  emptyMessage,
  encodeMessage,
  framed,
  type Message,
  type Question,
  type ResourceRecord,
} from "./message.ts";
import type { TsigKey } from "./tsig.ts";
import { type CheckReply, createReplyCheck, signRequest } from "./tsig-client.ts";

/** Another nameserver, and the key shared with it. */
export type Peer = {
  readonly host: string;
  readonly port: number;
  readonly key: TsigKey | undefined;
  /** Over TLS only, never in the clear. */
  readonly tls?: PeerTls | undefined;
  /** The local address to send from; chosen by the system if undefined. */
  readonly from?: string | undefined;
};

export type DnsRequest = {
  readonly opcode: number;
  readonly question: Question;
  readonly answers?: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
  readonly authoritative?: boolean;
  /** For a resolver, or a server that acts like one. */
  readonly recursionDesired?: boolean;
  /** A validating resolver answers without validating. */
  readonly checkingDisabled?: boolean;
  readonly edns?: Edns;
};

export type AskOptions = { readonly signal: AbortSignal; readonly limit: number; readonly now: () => Instant };

/** One query in one datagram; rejects when no trusted answer arrives in time. */
export async function askUdp(peer: Peer, asking: DnsRequest, { signal, limit, now }: AskOptions): Promise<Message> {
  const { bytes, check, isReply } = prepare(peer, asking, now);
  const socket = createSocket(isIPv6(peer.host) ? "udp6" : "udp4");
  const late = AbortSignal.timeout(limit);
  try {
    const packets = on(socket, "message", { signal: AbortSignal.any([signal, late]) });
    // A connected socket receives only from its peer.
    // Node also calls back with an error, such as a missing route: sending then would throw an uncaught error.
    const send = () =>
      socket.connect(peer.port, peer.host, (error?: Error) =>
        error ? socket.emit("error", error) : socket.send(bytes),
      );
    if (peer.from === undefined) send();
    else socket.bind(0, peer.from, send);
    for await (const [packet] of packets as AsyncIterable<[Buffer]>) {
      if (!isReply(packet)) continue;
      const checked = check(packet);
      const decoded = "message" in checked ? decodeMessage(checked.message) : undefined;
      // A forged reply must not end the wait for the real one.
      if (decoded?.ok) return decoded.message;
      if ("fault" in checked && isRefusal(packet)) throw new Error(checked.fault);
    }
    throw new Error("the socket was closed");
  } catch (error) {
    const because = signal.aborted ? "stopped" : late.aborted ? `no answer in ${limit} ms` : (error as Error).message;
    throw new Error(`${nameOf(peer)}: ${because}`, { cause: error });
  } finally {
    socket.close();
  }
}

/** There was an answer, but its signature is missing or wrong, or it rejects ours. */
export class UntrustedReply extends Error {
  readonly rcode: number;
  /** The server itself rejected our signature: it has done nothing. */
  readonly verified: boolean;
  constructor(because: string, { rcode, verified }: Pick<UntrustedReply, "rcode" | "verified">) {
    super(because);
    this.rcode = rcode;
    this.verified = verified;
  }
}

/** `covered`: everything so far is signed, or need not be. The last part must be covered. */
export type AnswerPart = { readonly message: Message; readonly covered: boolean };

/**
 * One query over TCP, and the messages of its answer until the caller stops reading. `limit` is the longest wait for
 * the next bytes.
 */
export async function* askTcp(
  peer: Peer,
  asking: DnsRequest,
  { signal, limit, now }: AskOptions,
): AsyncGenerator<AnswerPart> {
  const { bytes, check, isReply, covered } = prepare(peer, asking, now);
  const socket = await connectTo(peer, { signal, limit });
  socket.setTimeout(limit, () => socket.destroy(new Error(`no data for ${limit} ms`)));
  using _ = addAbortListener(signal, () => socket.destroy(signal.reason as Error));
  try {
    socket.write(framed(bytes));
    for await (const packet of packets(socket)) {
      if (!isReply(packet)) throw new Error("the answer is for a different question");
      const checked = check(packet);
      if ("fault" in checked) {
        const { fault, verified = false } = checked;
        throw new UntrustedReply(fault, { rcode: (packet[3] ?? 0) & 0xf, verified });
      }
      const decoded = decodeMessage(checked.message);
      if (!decoded.ok) throw new Error(`a message cannot be read: ${decoded.because}`);
      yield { message: decoded.message, covered: covered() };
    }
    throw new Error("the connection was closed early");
  } catch (error) {
    throw new Error(`${nameOf(peer)}: ${(error as Error).message}`, { cause: error });
  } finally {
    socket.destroy();
  }
}

async function connectTo(peer: Peer, waiting: Pick<AskOptions, "signal" | "limit">): Promise<Socket> {
  if (peer.tls === undefined)
    return connect({ host: peer.host, port: peer.port, ...(peer.from && { localAddress: peer.from }) });
  try {
    return await connectOverTls(peer, peer.tls, waiting);
  } catch (error) {
    throw new Error(`${nameOf(peer)}: ${(error as Error).message}`, { cause: error });
  }
}

function prepare(peer: Peer, asking: DnsRequest, now: () => Instant) {
  const id = randomInt(65_536);
  const plain = encodeMessage({ ...emptyMessage, ...asking, id, questions: [asking.question] });
  const isReply = (packet: Buffer) =>
    packet.length >= headerLength && packet.readUInt16BE(0) === id && ((packet[2] ?? 0) & 0x80) !== 0;
  if (peer.key === undefined) {
    const check: CheckReply = (packet) => ({ message: packet });
    return { bytes: plain, isReply, check, covered: () => true };
  }
  const { bytes, mac } = signRequest(plain, peer.key, now());
  const { check, complete } = createReplyCheck(peer.key, mac, now);
  return { bytes, isReply, check, covered: complete };
}

/**
 * A server that does not know the key, or finds the time wrong, answers NOTAUTH without a signature that could be
 * checked.
 */
const isRefusal = (packet: Buffer): boolean => ((packet[3] ?? 0) & 0xf) !== 0;

async function* packets(socket: Socket): AsyncGenerator<Buffer> {
  const frames = createFrameReader();
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    frames.add(chunk);
    let packet = frames.next();
    if (packet !== undefined) await nextRoundOfAll();
    for (; packet !== undefined; packet = frames.next()) yield packet;
  }
}

/**
 * All connections together read one chunk per round of the event loop. Otherwise each could read megabytes in one
 * round, and many endless senders would block everything else for seconds.
 */
let lastRound = Promise.resolve();
const nextRoundOfAll = (): Promise<void> => {
  lastRound = lastRound.then(() => nextRound());
  return lastRound;
};

export const nameOf = ({ host, port }: Pick<Peer, "host" | "port">): string => `${host} port ${port}`;
