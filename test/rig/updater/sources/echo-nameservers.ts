import { createSocket, type Socket } from "node:dgram";
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question } from "dns-packet";
import { parseAddress } from "../../../../src/core/addresses/address.ts";
import { freePort } from "../../free-port.ts";

/**
 * A nameserver that answers with the address it was given, at an IPv4 and an IPv6 address of this machine;
 * authoritative, with the TTL of Google's `o-o.myaddr.l.google.com` (dig's answers:
 * https://poplite.xyz/post/2018/05/19/how-to-get-your-public-ip-by-dns-lookup.html).
 */
export type EchoNameserver = {
  /** For `server:`. */
  readonly addresses: Readonly<Record<"ipv4" | "ipv6", string>>;
  /** What it answers over each family; undefined for no answer at all. */
  says: (question: Question, family: "ipv4" | "ipv6") => Reply;
  readonly asked: string[];
  close(): void;
};

/** Texts for TXT records, or addresses; a number is an RCODE, bytes are sent as they are. */
export type Reply = readonly string[] | number | Buffer | undefined;

export async function startEchoNameserver(): Promise<EchoNameserver> {
  const port = await freePort();
  const sockets: Socket[] = [];
  const server: EchoNameserver = {
    addresses: { ipv4: `127.0.0.1:${port}`, ipv6: `[::1]:${port}` },
    says: () => [],
    asked: [],
    close() {
      for (const socket of sockets) socket.close();
    },
  };
  for (const family of ["ipv4", "ipv6"] as const) {
    const socket = createSocket(family === "ipv4" ? "udp4" : "udp6");
    socket.on("message", (message, peer) => {
      const { id, questions: [question] = [] } = decode(message);
      if (!question) return;
      server.asked.push(`${family} ${question.type} ${question.class} ${question.name}`);
      const reply = server.says(question, family);
      if (reply === undefined) return;
      const bytes = Buffer.isBuffer(reply) ? reply : replyTo(id ?? 0, question, reply);
      socket.send(bytes, peer.port, peer.address);
    });
    await new Promise<void>((resolve) => socket.bind(port, family === "ipv4" ? "127.0.0.1" : "::1", resolve));
    sockets.push(socket);
  }
  return server;
}

function replyTo(id: number, question: Question, reply: readonly string[] | number): Buffer {
  const { name, type, class: of } = question;
  const texts = typeof reply === "number" ? [] : reply;
  const answers = texts.flatMap((text): Answer[] => {
    if (type === "TXT") return [{ type, name, class: of, ttl: 60, data: text }];
    const isOfType = parseAddress(text)?.family === (type === "A" ? "ipv4" : "ipv6");
    return isOfType && (type === "A" || type === "AAAA") ? [{ type, name, class: of, ttl: 60, data: text }] : [];
  });
  const message = encode({ type: "response", id, flags: AUTHORITATIVE_ANSWER, questions: [question], answers });
  if (typeof reply === "number") message.writeUInt8((message[3] ?? 0) | reply, 3);
  return message;
}
