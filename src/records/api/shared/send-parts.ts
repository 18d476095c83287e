import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** Fewer parts are short enough to be sent at once. */
const fewParts = 5;

/** Sends a text that may be long: joining and copying megabytes in one step would hold up everybody else's requests. */
export function sendParts(reply: FastifyReply, type: string, parts: readonly string[]): FastifyReply {
  reply.type(`${type}; charset=utf-8`).serializer(String);
  if (parts.length < fewParts) return reply.send(parts.join(""));
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return reply.header("content-length", length).send(Readable.from(parts));
}
