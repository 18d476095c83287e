import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mayWriteZones } from "../../../core/may.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { Turns } from "../../../lib/limits/turns.ts";
import { AccessEnded } from "../../store/port.ts";
import { slowToParse } from "./json-shape.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body may be a whole zone if the token may write one. */
    largeBody?: boolean;
    /** May take some time: accounts take turns, and each turn of the event loop starts one such request. */
    heavy?: boolean;
  }
}

/** In bytes. Larger bodies count as large: an account has only one of them in memory at a time. */
const smallBody = 16 * 1024;

/** Fastify sets its limits by content type, but clients send any. So the header is overwritten with one of these. */
const ordinary = "application/json";
const large = "application/vnd.moor.zone";

export type BodyRead = (error: Error | null, body?: unknown) => void;
export type ReadBody = (request: FastifyRequest, body: Buffer, done: BodyRead) => void;

/** Replaces all body parsers with two: one with the server's limit, one for zones. */
export function readBodiesBy(api: FastifyInstance, read: ReadBody, largest: number): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser(ordinary, { parseAs: "buffer" }, read);
  api.addContentTypeParser(large, { parseAs: "buffer", bodyLimit: largest }, read);
}

/**
 * Call this when the actor is known and before the body is read. The size limit depends on what the actor may write. A large body
 * waits for its account's turn and is not read until then.
 */
export async function admitBody(request: FastifyRequest, reply: FastifyReply, turns: Turns): Promise<void> {
  const isLarge = request.routeOptions.config.largeBody === true && mayWriteZones(request.actor.scope);
  request.raw.headers["content-type"] = isLarge ? large : ordinary;
  const size = sizeOf(request.raw);
  const isRefused = !isLarge && Number.isFinite(size) && size > (request.routeOptions.bodyLimit ?? size);
  if (size > smallBody && !isRefused) await holdFor(request.actor.account, reply, turns);
}

/** Whether the body may be large, judged by the headers. */
export const hasLargeBody = ({ raw }: FastifyRequest): boolean => sizeOf(raw) > smallBody;

/** Closes the connection rather than read a large body from an unknown client. */
export function leaveBody(request: FastifyRequest, reply: FastifyReply): void {
  if (hasLargeBody(request)) reply.header("connection", "close");
}

export type StillAdmitted = {
  /** Whether the token or session of the request is still valid. */
  readonly stillGood: (request: FastifyRequest) => Promise<boolean>;
  /** Also the answer to `AccessEnded`. */
  readonly refuse: (reply: FastifyReply) => FastifyReply;
};

/**
 * Makes routes marked as heavy take turns, so that other requests are answered in between. A token may be revoked while its
 * request waits or a client sends the body slowly, so it is checked again. If the client is gone by then, nothing is done: the store
 * may be closed already.
 */
export function takeTurns(api: FastifyInstance, turns: Turns, { stillGood, refuse }: StillAdmitted): void {
  const expectAccess = async (request: FastifyRequest) => {
    if (!(await stillGood(request))) throw new AccessEnded();
  };
  api.addHook("onRoute", (route) => {
    const isHeavy = route.config?.heavy === true;
    route.preHandler = async (request, reply) => {
      if (isHeavy) await turns.next(request.actor.account);
      if (request.raw.socket.destroyed) return reply.hijack();
      const hasWaited = isHeavy || sizeOf(request.raw) > 0;
      if (hasWaited && !(await stillGood(request))) return refuse(reply);
      if (hasLargeBody(request)) request.actor = { ...request.actor, expectAccess: () => expectAccess(request) };
      return undefined;
    };
  });
}

/** For a request that needs much memory: waits for the account's slot, and frees it when the answer has been sent. */
export async function holdFor(account: number, reply: FastifyReply, turns: Turns): Promise<void> {
  const gone = new AbortController();
  let release = () => {};
  const end = () => {
    gone.abort(new StoreBusy("the client closed the connection", { isLogged: true }));
    release();
  };
  reply.raw.once("close", end).once("finish", end);
  release = await turns.hold(account, gone.signal);
}

/** Infinite if the client does not declare a length. */
function sizeOf({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Anything but JSON in UTF-8 is a 400; what would take long to parse is a 422. */
export function parseBody(body: Buffer, done: BodyRead): void {
  const why = slowToParse(body);
  if (why !== undefined) {
    done(Object.assign(new Error(`the body ${why}`), { statusCode: 422 }));
    return;
  }
  try {
    done(null, JSON.parse(utf8.decode(body)));
  } catch (error) {
    done(Object.assign(new Error("the body is not JSON", { cause: error }), { statusCode: 400 }));
  }
}
