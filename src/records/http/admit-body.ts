import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mayWriteZones } from "../../core/may.ts";
import { StoreBusy } from "../../process/database/store-busy.ts";
import type { Turns } from "../../process/turns.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body may be a whole zone, from those who may write one. */
    largeBody?: boolean;
    /** It may take some time: accounts take turns, and one starts per turn of the event loop. */
    heavy?: boolean;
  }
}

/** A body above this is large: an account has one of them in memory at a time. */
const smallBody = 16 * 1024;

/** Fastify's limits go by content type, and clients of these APIs send any: from here on it says what was decided. */
const ordinary = "application/json";
const large = "application/vnd.moor.zone";

export type BodyRead = (error: Error | null, body?: unknown) => void;
export type ReadBody = (request: FastifyRequest, body: Buffer, done: BodyRead) => void;

/** The only readers of bodies: one with the server's limit, one for zones. */
export function readBodiesBy(api: FastifyInstance, read: ReadBody, largest: number): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser(ordinary, { parseAs: "buffer" }, read);
  api.addContentTypeParser(large, { parseAs: "buffer", bodyLimit: largest }, read);
}

/**
 * To be called when the actor is known and nothing of the body has been read. How much of it may be read follows from what the actor
 * may write. A large one waits for its account's turn: until then it stays with the client.
 */
export async function admitBody(request: FastifyRequest, reply: FastifyReply, turns: Turns): Promise<void> {
  const isLarge = request.routeOptions.config.largeBody === true && mayWriteZones(request.actor.scope);
  request.raw.headers["content-type"] = isLarge ? large : ordinary;
  const size = sizeOf(request.raw);
  const isRefused = !isLarge && Number.isFinite(size) && size > (request.routeOptions.bodyLimit ?? size);
  if (size > smallBody && !isRefused) await holdFor(request.actor.account, reply, turns);
}

/** Whether the body of a request may be large, by what its headers say. */
export const hasLargeBody = ({ raw }: FastifyRequest): boolean => sizeOf(raw) > smallBody;

/** A stranger's large body is not read to its end only to keep the connection. */
export function leaveBody(request: FastifyRequest, reply: FastifyReply): void {
  if (hasLargeBody(request)) reply.header("connection", "close");
}

/** For routes that are marked as heavy: between two of them whatever else came is answered. */
export function takeTurns(api: FastifyInstance, turns: Turns): void {
  api.addHook("onRoute", (route) => {
    if (route.config?.heavy) route.preHandler = (request) => turns.next(request.actor.account);
  });
}

/** For a request that needs much memory: waits until it may, and lets the next one in when its answer has left. */
export async function holdFor(account: number, reply: FastifyReply, turns: Turns): Promise<void> {
  const gone = new AbortController();
  let release = () => {};
  const end = () => {
    gone.abort(new StoreBusy("the client has hung up", { isLogged: true }));
    release();
  };
  reply.raw.once("close", end).once("finish", end);
  release = await turns.hold(account, gone.signal);
}

/** Who does not say how long the body is may send any length. */
function sizeOf({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A body is JSON in UTF-8, or the request is a bad one. */
export function parseBody(body: Buffer, done: BodyRead): void {
  try {
    done(null, JSON.parse(utf8.decode(body)));
  } catch (error) {
    done(Object.assign(new Error("the body is not JSON", { cause: error }), { statusCode: 400 }));
  }
}
