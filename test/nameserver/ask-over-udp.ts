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

/**
 * A server that has just been started may lose a query. A wait that repeats one asks like this: starting dig each time
 * takes a hundred times as long.
 */
export const askBriefly = (port: number, asked: Asked): Promise<Message | undefined> => askOverUdp(port, asked, 1_000);

/** The serial in the SOA that a server answers with. */
export async function serialOver(port: number, zone: string): Promise<number | undefined> {
  const reply = await askBriefly(port, { name: zone, type: 6 });
  // The five numbers are its last 20 bytes.
  const data = reply?.answers.find(({ type }) => type === 6)?.data;
  return data && Buffer.from(data).readUInt32BE(data.length - 20);
}

/** The addresses of a name, joined; undefined if there is no answer in time. */
export async function addressOver(port: number, name: string): Promise<string | undefined> {
  const reply = await askBriefly(port, { name, type: 1 });
  return reply && addressesIn(reply).join();
}

/** The addresses in an answer, as text. */
export const addressesIn = (message: Message | undefined): readonly string[] =>
  message?.answers.filter((record) => record.type === 1).map((record) => record.data.join(".")) ?? [];
