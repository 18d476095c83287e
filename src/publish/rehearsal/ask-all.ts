import { askTcp, askUdp, type Peer } from "../../process/dns/ask.ts";
import { classes, opcodes } from "../../process/dns/codes.ts";
import { ednsUdpSize } from "../../process/dns/edns.ts";
import type { Message } from "../../process/dns/message.ts";

export type Question = { readonly name: string; readonly type: number };
export type Ask = (question: Question) => Promise<Message>;

const limit = 20_000;

/** Asks for signatures too, and over TCP what is too large for a datagram. */
export const createAsk =
  (port: number, signal: AbortSignal): Ask =>
  async ({ name, type }) => {
    const peer: Peer = { host: "127.0.0.1", port, key: undefined };
    const asking = {
      opcode: opcodes.query,
      question: { name, type, class: classes.in },
      recursionDesired: true,
      edns: { udpSize: ednsUdpSize, version: 0, dnssecOk: true, options: [] },
    };
    const options = { signal, limit, now: Date.now };
    const short = await askUdp(peer, asking, options);
    if (!short.truncated) return short;
    for await (const { message } of askTcp(peer, asking, options)) return message;
    return short;
  };
