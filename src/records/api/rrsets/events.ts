import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { badInput } from "../../../core/result.ts";
import { type Holder, KeyedSemaphore } from "../../../lib/limits/semaphore.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import type { NoteFailure } from "../shared/failed-requests.ts";
import { sendError, sendFaults } from "./answer.ts";
import { createEventStreams, cutAfter, cutText, type EventSink } from "./change-events.ts";
import { errorAnswer } from "./errors.ts";

export type EventOptions = {
  readonly service: RecordService;
  readonly store: RecordStore;
  /** Whether the token of the request is still valid. */
  readonly stillGood: (request: FastifyRequest) => Promise<boolean>;
  /** The request's actor with current permissions; undefined if the token or session is no longer valid. */
  readonly actorNow: (request: FastifyRequest) => Promise<Actor | undefined>;
  readonly noteFailure: NoteFailure;
  /** Milliseconds; heartbeats reveal a proxy or sleeping machine that no longer passes anything on. */
  readonly heartbeat?: number;
  /** Milliseconds that a reader has to accept what was sent. */
  readonly patience?: number;
  /** Receives the number of readers. */
  readonly streams?: { open: number };
};

/** Per node. Keeps one token, or one account with many tokens, from using up the streams of all others. */
const mostStreams = { all: 1_000, ofToken: 20, ofAccount: 200 };

const schema = {
  tags: ["changes"],
  summary: "Stream changes as server-sent events",
  headers: Type.Object({
    "last-event-id": Type.Optional(
      Type.String({
        description:
          "continue after this event; default: only new changes. If it or changes after it are no longer stored, the " +
          "first event is named cut: read the current state again, then continue. It also comes later, if the database " +
          "loses changes that were sent",
      }),
    ),
  }),
  response: {
    200: Type.String({
      description:
        'text/event-stream; the data of each event is a Change, except for the event cut, whose data is {"asked": id, "from": id}',
    }),
  },
};

/** Not in the original API: changes as they happen, for every client that may see them. */
export function rrsetsEventRoutes(api: FastifyInstance, options: EventOptions): void {
  const readers = new EventReaders(options);
  api.addHook("preClose", async () => readers.close());
  api.get("/events", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const lastEventId = request.headers["last-event-id"];
    if (lastEventId !== undefined && !/^\d{1,15}$/.test(String(lastEventId))) {
      return sendFaults(reply, [badInput("Last-Event-ID", "must be the id of an event")]);
    }
    return await readers.serve(request, reply, lastEventId === undefined ? undefined : Number(lastEventId));
  });
}

type OpenStream = { readonly request: FastifyRequest; readonly response: ServerResponse };

/** The clients that read the stream now. */
class EventReaders {
  readonly #options: EventOptions;
  readonly #streams: ReturnType<typeof createEventStreams>;
  readonly #permits = new KeyedSemaphore(mostStreams.all);
  readonly #open = new Map<AbortController, OpenStream>();
  readonly #stopListening: () => void;

  constructor(options: EventOptions) {
    const { store, service } = options;
    this.#options = options;
    this.#streams = createEventStreams(store, service.maySee, service.schedule);
    this.#stopListening = store.onAccessChange(() => {
      for (const each of this.#open.values()) void this.#endIfRevoked(each);
    });
  }

  close(): void {
    this.#stopListening();
    this.#streams.close();
    for (const stream of this.#open.keys()) stream.abort();
  }

  /** `lastSeen`: the last event that the client has received. */
  async serve(request: FastifyRequest, reply: FastifyReply, lastSeen: number | undefined): Promise<FastifyReply> {
    const permit = this.#permits.tryAcquire(holdersOf(request.actor));
    if (permit.kind === "full") return sendFull(reply, permit.holder);
    const stream = new AbortController();
    this.#open.set(stream, { request, response: reply.raw });
    this.#count();
    const release = () => {
      permit.release();
      this.#open.delete(stream);
      this.#count();
    };
    reply.raw.once("close", () => {
      release();
      stream.abort();
    });
    await this.#follow(request, reply, lastSeen, stream);
    release();
    if (stream.signal.aborted) reply.raw.end();
    // A reader that accepts nothing would not accept a clean end either. If the log cannot be read, the reader should
    // reconnect. A reader that lost its access must not get what is still buffered.
    else reply.raw.destroy();
    return reply;
  }

  async #follow(request: FastifyRequest, reply: FastifyReply, lastSeen: number | undefined, stream: AbortController) {
    const { service, store, noteFailure, heartbeat = 15_000, patience = 10_000, actorNow } = this.#options;
    const shownIds = await service.shownIdsFor(request.actor);
    const last = await store.lastChange();
    const after = lastSeen === undefined ? last : shownIds.read(lastSeen);
    const cut = lastSeen === undefined ? undefined : await cutAfter(store, after, last);
    const from = cut ?? after;
    const response = begin(reply, shownIds.show(from));
    response.on("error", () => stream.abort());
    void this.#endIfRevoked({ request, response });
    if (lastSeen !== undefined && cut !== undefined) response.write(cutText(lastSeen, shownIds.show(cut)));
    const beat = setInterval(() => void pulse(request, response, this.#options), heartbeat);
    const sink = sinkOf(response, patience, stream.signal);
    const follower = { account: request.actor.account, actorNow: () => actorNow(request), shownIds };
    await this.#streams.follow(follower, from, sink, stream.signal).catch((error) => noteFailure(error, request.id));
    clearInterval(beat);
  }

  /**
   * Also discards what the client has not received yet. If the check fails now, it is repeated before the next event.
   */
  async #endIfRevoked({ request, response }: OpenStream): Promise<void> {
    const revoked = await this.#options.actorNow(request).then(
      (actor) => actor === undefined,
      () => false,
    );
    if (revoked) response.destroy();
  }

  #count(): void {
    const { streams } = this.#options;
    if (streams) streams.open = this.#open.size;
  }
}

const holdersOf = ({ token, session, account }: Actor): readonly Holder[] => [
  { name: token === undefined ? `session ${session}` : `token ${token}`, most: mostStreams.ofToken },
  { name: `account ${account}`, most: mostStreams.ofAccount },
];

function sendFull(reply: FastifyReply, holder: Holder | undefined): FastifyReply {
  reply.header("retry-after", "60");
  if (holder === undefined)
    return sendError(reply, errorAnswer(503, "unavailable", "too many event streams are open; try again later"));
  const [whose] = holder.name.split(" ");
  const message = `this ${whose} has ${holder.most} event streams open, which is the limit; close one, or share one stream`;
  return sendError(reply, errorAnswer(429, "rate_limit_exceeded", message));
}

/** An id without data is not an event; it only sets the position to continue from. */
function begin(reply: FastifyReply, id: number): ServerResponse {
  reply.hijack();
  const response = reply.raw;
  reply.headers({
    "content-type": "text/event-stream",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
  for (const [name, value] of Object.entries(reply.getHeaders())) response.setHeader(name, value ?? "");
  response.write(`retry: 1000\nid: ${id}\n\n`);
  return response;
}

async function pulse(request: FastifyRequest, response: ServerResponse, { stillGood }: EventOptions): Promise<void> {
  const good = await stillGood(request).catch(() => false);
  if (!good) response.destroy();
  else if (!response.writableNeedDrain) response.write(": still here\n\n");
}

function sinkOf(response: ServerResponse, patience: number, signal: AbortSignal): EventSink {
  return async (text) => {
    if (response.destroyed) return false;
    if (response.write(text)) return true;
    return await drained(response, patience, signal);
  };
}

async function drained(response: ServerResponse, patience: number, signal: AbortSignal): Promise<boolean> {
  return await once(response, "drain", { signal: AbortSignal.any([AbortSignal.timeout(patience), signal]) }).then(
    () => true,
    () => false,
  );
}
