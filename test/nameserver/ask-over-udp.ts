import { createSocket } from "node:dgram";
import { decodeMessage, encodeMessage, type Message } from "../../src/lib/dns/message.ts";
import { patience } from "../rig/patience.ts";
import { type Asked, queryFor } from "./ask-over-tcp.ts";

/** Asks once, from a new port; undefined if no answer arrives in time. */
export const askOverUdp = (port: number, asked: Asked, limit = patience): Promise<Message | undefined> =>
  sendOverUdp(port, encodeMessage(queryFor(asked, 1)), limit);

export function sendOverUdp(port: number, packet: Uint8Array, limit = patience): Promise<Message | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createSocket("udp4");
    const end = (reply: Message | undefined) => {
      clearTimeout(timer);
      socket.close();
      resolve(reply);
    };
    const timer = setTimeout(() => end(undefined), limit);
    socket.on("error", reject);
    socket.on("message", (bytes) => {
      const decoded = decodeMessage(bytes);
      end(decoded.ok ? decoded.message : undefined);
    });
    socket.send(packet, port, "127.0.0.1");
  });
}

/** The addresses in an answer, as text. */
export const addressesIn = (message: Message | undefined): readonly string[] =>
  message?.answers.filter((record) => record.type === 1).map((record) => record.data.join(".")) ?? [];
