import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mayWriteZones } from "../../../core/may.ts";
import { type MaybeLater, whenKnown } from "../../../core/maybe-later.ts";
import { BufferedRequest, bodySize, smallBody } from "../../../lib/http/schedule-requests.ts";
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

/** Fastify sets its limits by content type, but clients send any. So the header is overwritten with one of these. */
const ordinary = "application/json";
const large = "application/vnd.moor.zone";

/** Throws an error with a `statusCode` if the body cannot be read. */
export type ReadBody = (request: FastifyRequest, body: Buffer) => unknown;

/** Replaces all body parsers with two: one with the server's limit, one for zones. */
export function readBodiesBy(api: FastifyInstance, read: ReadBody, largest: number): void {
  const parse = async (request: FastifyRequest, body: Buffer) => read(request, body);
  api.removeAllContentTypeParsers();
  api.addContentTypeParser(ordinary, { parseAs: "buffer" }, parse);
  api.addContentTypeParser(large, { parseAs: "buffer", bodyLimit: largest }, parse);
}

/**
 * Call this when the actor is known and before the body is read. The size limit depends on what the actor may write. A
 * large body waits for its account's turn and is not read until then. If the client is gone by now, nothing is done:
 * the store may be closed already.
 */
export function admitBody(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadBody,
  schedule: FairSchedule,
): object | undefined {
  const { raw } = request;
  if (raw.socket.destroyed) return reply.hijack();
  // Fastify reads no body of these.
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  const size = bodySize(raw);
  const { config, bodyLimit } = request.routeOptions;
  const isLarge = config.largeBody === true && mayWriteZones(request.actor.scope);
  const body = size <= bodyLimit && raw instanceof BufferedRequest ? raw.takeBody() : undefined;
  if (body !== undefined) {
    // For Fastify, the request has no body then.
    Object.assign(raw.headers, { "content-type": undefined, "content-length": "0" });
    request.body = read(request, body);
    return undefined;
  }
  raw.headers["content-type"] = isLarge ? large : ordinary;
  const isRefused = !isLarge && Number.isFinite(size) && size > bodyLimit;
  return size > smallBody && !isRefused ? holdFor(request.actor.account, reply, schedule) : undefined;
}

/** Whether the body may be large, judged by the headers. */
export const hasLargeBody = ({ raw }: FastifyRequest): boolean => bodySize(raw) > smallBody;

/** Closes the connection rather than read a large body from an unknown client. */
export function leaveBody(request: FastifyRequest, reply: FastifyReply): void {
  if (hasLargeBody(request)) reply.header("connection", "close");
}

export type AccessCheck = {
  /** Whether the token or session of the request is still valid. */
  readonly isStillValid: (request: FastifyRequest) => MaybeLater<boolean>;
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
  schedule: Pick<FairSchedule, "next">,
  { isStillValid, refuse }: AccessCheck,
): void {
  api.addHook("onRoute", (route) => {
    const isHeavy = route.config?.heavy === true;
    if (!isHeavy && (route.method === "GET" || route.method === "HEAD")) return;
    const check = (request: FastifyRequest, reply: FastifyReply) => {
      if (request.raw.socket.destroyed) return reply.hijack();
      const hasWaited = isHeavy || bodySize(request.raw) > 0;
      return whenKnown(!hasWaited || isStillValid(request), (isValid) => (isValid ? undefined : refuse(reply)));
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

/** In bytes. Whatever is in them, smaller bodies are parsed in less than a millisecond. */
const quickBody = 2 * 1024;

/** Anything but JSON in UTF-8 is a 400; what would take long to parse is a 422. */
export function parseBody(body: Buffer): unknown {
  const why = body.length > quickBody ? slowToParse(body) : undefined;
  if (why !== undefined) throw Object.assign(new Error(`the body ${why}`), { statusCode: 422 });
  try {
    if (!isUtf8(body)) throw new Error("the body is not UTF-8");
    return JSON.parse(withoutMark(body.toString()));
  } catch (error) {
    throw Object.assign(new Error("the body is not JSON", { cause: error }), { statusCode: 400 });
  }
}

/** Some programs write a byte order mark. */
const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);
