import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mayWriteZones } from "../../../core/may.ts";
import { type MaybeLater, whenKnown } from "../../../core/maybe-later.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
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
 * Call this when the actor is known and before the body is read. The size limit depends on what the actor may write. A
 * large body waits for its account's turn and is not read until then. If the client is gone by now, nothing is done:
 * the store may be closed already.
 */
export function admitBody(request: FastifyRequest, reply: FastifyReply, schedule: FairSchedule): object | undefined {
  if (request.raw.socket.destroyed) return reply.hijack();
  // Fastify reads no body of these.
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  const size = sizeOf(request.raw);
  const { config, bodyLimit } = request.routeOptions;
  const isLarge = config.largeBody === true && mayWriteZones(request.actor.scope);
  request.raw.headers["content-type"] = isLarge ? large : ordinary;
  const isRefused = !isLarge && Number.isFinite(size) && size > bodyLimit;
  return size > smallBody && !isRefused ? holdFor(request.actor.account, reply, schedule) : undefined;
}

/** Whether the body may be large, judged by the headers. */
export const hasLargeBody = ({ raw }: FastifyRequest): boolean => sizeOf(raw) > smallBody;

/** Closes the connection rather than read a large body from an unknown client. */
export function leaveBody(request: FastifyRequest, reply: FastifyReply): void {
  if (hasLargeBody(request)) reply.header("connection", "close");
}

export type StillAdmitted = {
  /** Whether the token or session of the request is still valid. */
  readonly stillGood: (request: FastifyRequest) => MaybeLater<boolean>;
  /** Also the answer to `AccessEnded`. */
  readonly refuse: (reply: FastifyReply) => FastifyReply;
};

/**
 * Makes routes marked as heavy take turns, so that other requests are answered in between. A token may be revoked while
 * its request waits or a client sends the body slowly, so it is checked again. A request that does not wait needs no
 * hook.
 */
export function scheduleHeavyRequests(
  api: FastifyInstance,
  schedule: FairSchedule,
  { stillGood, refuse }: StillAdmitted,
): void {
  api.addHook("onRoute", (route) => {
    const isHeavy = route.config?.heavy === true;
    if (!isHeavy && (route.method === "GET" || route.method === "HEAD")) return;
    const check = (request: FastifyRequest, reply: FastifyReply) => {
      if (request.raw.socket.destroyed) return reply.hijack();
      const hasWaited = isHeavy || sizeOf(request.raw) > 0;
      return whenKnown(!hasWaited || stillGood(request), (isGood) => (isGood ? undefined : refuse(reply)));
    };
    route.preHandler = hook((request, reply) =>
      isHeavy ? schedule.next(request.actor.account).then(() => check(request, reply)) : check(request, reply),
    );
  });
}

/** A hook of Fastify that waits only if there is something to wait for: a promise, or an answer that was sent. */
export const hook =
  (run: (request: FastifyRequest, reply: FastifyReply) => object | undefined) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<unknown> | undefined => {
    const later = run(request, reply);
    if (later === undefined) done();
    // Fastify takes an answer for a promise too.
    return later as Promise<unknown> | undefined;
  };

/** For a request that needs much memory: waits for the account's slot, and frees it when the answer has been sent. */
export async function holdFor(account: number, reply: FastifyReply, schedule: FairSchedule): Promise<void> {
  const gone = new AbortController();
  let release = () => {};
  const end = () => {
    gone.abort(new StoreBusy("the client closed the connection", { isLogged: true }));
    release();
  };
  reply.raw.once("close", end).once("finish", end);
  release = await schedule.hold(account, gone.signal);
}

/** Infinite if the client does not declare a length. */
function sizeOf({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/** In bytes. Whatever is in them, smaller bodies are parsed in less than a millisecond. */
const quickBody = 2 * 1024;

/** Anything but JSON in UTF-8 is a 400; what would take long to parse is a 422. */
export function parseBody(body: Buffer, done: BodyRead): void {
  const why = body.length > quickBody ? slowToParse(body) : undefined;
  if (why !== undefined) {
    done(Object.assign(new Error(`the body ${why}`), { statusCode: 422 }));
    return;
  }
  try {
    if (!isUtf8(body)) throw new Error("the body is not UTF-8");
    done(null, JSON.parse(withoutMark(body.toString())));
  } catch (error) {
    done(Object.assign(new Error("the body is not JSON", { cause: error }), { statusCode: 400 }));
  }
}

/** Some programs write a byte order mark. */
const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);
