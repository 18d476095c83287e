import { connect } from "node:net";
import { decodeMessage, emptyMessage, encodeMessage, type Message } from "../../src/lib/dns/message.ts";
import { patience } from "../rig/patience.ts";

export type Asked = {
  readonly name: string;
  readonly type: number;
  /** With EDNS and the DO bit. */
  readonly dnssecOk?: boolean;
  readonly recursionDesired?: boolean;
};

/**
 * Asks all questions over one connection, `atOnce` at a time, and returns the replies in the order of the questions.
 */
export function askOverTcp(port: number, questions: readonly Asked[], atOnce = 100): Promise<readonly Message[]> {
  return new Promise((resolve, reject) => {
    const replies: Message[] = [];
    let sent = 0;
    let received = 0;
    let unread: Buffer = Buffer.of();
    const socket = connect(port, "127.0.0.1");
    const timer = setTimeout(() => finish(new Error(`${received} of ${questions.length} answered in time`)), patience);
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.destroy();
      if (error) reject(error);
      else resolve(replies);
    };
    const send = () => {
      for (; sent < questions.length && sent < received + atOnce; sent++) {
        const question = questions[sent];
        if (question) socket.write(framed(sent, question));
      }
    };
    socket.on("connect", send);
    socket.on("error", finish);
    socket.on("close", () =>
      finish(
        new Error(
          `closed after ${received} of ${questions.length} answers; none to ${JSON.stringify(questions.filter((_, i) => i < sent && !replies[i]))}`,
        ),
      ),
    );
    socket.on("data", (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
        const end = 2 + unread.readUInt16BE(0);
        const decoded = decodeMessage(unread.subarray(2, end));
        if (!decoded.ok) return finish(new Error(`a reply that cannot be read: ${decoded.because}`));
        replies[decoded.message.id] = decoded.message;
        unread = unread.subarray(end);
        received += 1;
      }
      if (received === questions.length) finish();
      else send();
    });
    if (questions.length === 0) finish();
  });
}

function framed(id: number, asked: Asked): Buffer {
  const message = encodeMessage(queryFor(asked, id));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

export const queryFor = ({ name, type, dnssecOk, recursionDesired = false }: Asked, id: number): Message => ({
  id,
  ...emptyMessage,
  recursionDesired,
  questions: [{ name, type, class: 1 }],
  edns: dnssecOk ? { udpSize: 1_232, version: 0, dnssecOk, options: [] } : undefined,
});
