import { askTcp, askUdp, type Peer } from "../../../src/lib/dns/ask.ts";
import { classes, opcodes } from "../../../src/lib/dns/codes.ts";
import { ednsUdpSize } from "../../../src/lib/dns/edns.ts";
import type { Message } from "../../../src/lib/dns/message.ts";

export type SetQuestion = { readonly name: string; readonly type: number };
export type Ask = (question: SetQuestion) => Promise<Message>;

const limit = 20_000;

/** Also asks for signatures; repeats the query over TCP if the answer is too large for a datagram. */
export const createAsk =
  (port: number, signal: AbortSignal, checkingDisabled = false): Ask =>
  async ({ name, type }) => {
    const peer: Peer = { host: "127.0.0.1", port, key: undefined };
    const asking = {
      opcode: opcodes.query,
      question: { name, type, class: classes.in },
      recursionDesired: true,
      checkingDisabled,
      edns: { udpSize: ednsUdpSize, version: 0, dnssecOk: true, options: [] },
    };
    const options = { signal, limit, now: Date.now };
    const short = await askUdp(peer, asking, options);
    if (!short.truncated) return short;
    for await (const { message } of askTcp(peer, asking, options)) return message;
    return short;
  };

/**
 * Keeps asking questions until it is ended, one at a time: more would only take time from what they watch. An error is
 * thrown at the end.
 */
export function keepAsking(questions: readonly SetQuestion[], ask: (question: SetQuestion) => Promise<void>) {
  let isOver = false;
  const askInTurn = async () => {
    while (!isOver) for (const question of questions) await ask(question);
  };
  const asking = askInTurn();
  // It is awaited at the end.
  asking.catch(() => undefined);
  return async (): Promise<void> => {
    isOver = true;
    await asking;
  };
}
