import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { createSeats, type Holder } from "../../process/seats.ts";
import type { NoteFailure } from "../http/failed-requests.ts";
import { badInput } from "../service/edit/bad-input.ts";
import type { RecordService } from "../service/service.ts";
import type { Actor } from "../service/sight.ts";
import { noVeil } from "../service/veiled-numbers.ts";
import type { RecordStore } from "../store/port.ts";
import { sendError, sendFaults } from "./answer.ts";
import { createEventStreams, type EventSink } from "./change-events.ts";
import { errorAnswer } from "./errors.ts";

export type EventOptions = {
  readonly service: RecordService;
  readonly store: RecordStore;
  /** Whether the token that came with the request is still good. */
  readonly stillGood: (request: FastifyRequest) => Promise<boolean>;
  /** Whose request it is and what that one may see now; undefined when its token or session is no longer valid. */
  readonly actorNow: (request: FastifyRequest) => Promise<Actor | undefined>;
  readonly noteFailure: NoteFailure;
  /** Milliseconds; a proxy or a sleeping machine is noticed by these. */
  readonly heartbeat?: number;
  /** Milliseconds in which a reader must take what was sent to it. */
  readonly patience?: number;
  /** Told how many readers there are. */
  readonly streams?: { open: number };
};

/** At each node. One token cannot hold the streams of all others, nor one account with many tokens. */
const mostStreams = { all: 1_000, ofToken: 20, ofAccount: 200 };

/** Not in the original API: changes as they come, to everyone who may see them. */
export function rrsetsEventRoutes(api: FastifyInstance, options: EventOptions): void {
  const { store, service, noteFailure } = options;
  const streams = createEventStreams(store, service.maySee, service.turns);
  const seats = createSeats(mostStreams.all);
  const open = new Map<AbortController, { readonly request: FastifyRequest; readonly response: ServerResponse }>();
  const { streams: counted = { open: 0 } } = options;
  /** What it has not taken yet is not for it any more either. If it cannot be checked now, it is before the next event. */
  const endIfRevoked = async ({ request, response }: { request: FastifyRequest; response: ServerResponse }) => {
    const revoked = await options.actorNow(request).then(
      (actor) => actor === undefined,
      () => false,
    );
    if (revoked) response.destroy();
  };
  const stopListening = store.onAccessChange(() => {
    for (const each of open.values()) void endIfRevoked(each);
  });
  api.addHook("preClose", async () => {
    stopListening();
    streams.close();
    for (const stream of open.keys()) stream.abort();
  });

  const schema = {
    tags: ["changes"],
    summary: "A stream of changes, as server-sent events",
    headers: Type.Object({
      "last-event-id": Type.Optional(
        Type.String({
          description:
            "go on behind this event; left out: with what comes. When changes behind it are not kept any more, the " +
            "first event is a cut: read again what you need, and go on",
        }),
      ),
    }),
    response: { 200: Type.String({ description: "text/event-stream; the data of each event is a Change" }) },
  };
  api.get("/events", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const asked = request.headers["last-event-id"];
    if (asked !== undefined && !/^\d{1,15}$/.test(String(asked))) {
      return sendFaults(reply, [badInput("Last-Event-ID", "must be the id of an event")]);
    }
    const { actor } = request;
    const seat = seats.take(holdersOf(actor));
    if (seat.kind === "full") return sendFull(reply, seat.holder);
    const stream = new AbortController();
    open.set(stream, { request, response: reply.raw });
    counted.open = open.size;
    const release = () => {
      seat.leave();
      open.delete(stream);
      counted.open = open.size;
    };
    reply.raw.once("close", () => {
      release();
      stream.abort();
    });
    const veil = await service.veilFor(actor);
    const last = await store.lastChange();
    const after = asked === undefined ? last : veil.read(Number(asked));
    // An id that this token was never given: where it stood is not known.
    const unknown = after > last && veil !== noVeil;
    const cut = asked === undefined ? undefined : unknown ? last : await cutBehind(store, after);
    const from = Math.min(cut ?? after, last);
    const response = begin(reply, veil.show(from));
    response.on("error", () => stream.abort());
    void endIfRevoked({ request, response });
    if (cut !== undefined)
      response.write(`event: cut\ndata: ${JSON.stringify({ asked: Number(asked), from: veil.show(cut) })}\n\n`);
    const beat = setInterval(() => void pulse(request, response, options), options.heartbeat ?? 15_000);
    const sink = sinkOf(response, options.patience ?? 10_000, stream.signal);
    const follower = { account: actor.account, actorNow: () => options.actorNow(request), veil };
    await streams.follow(follower, from, sink, stream.signal).catch((error) => noteFailure(error, request.id));
    clearInterval(beat);
    release();
    if (stream.signal.aborted) response.end();
    // Who takes nothing would not take the end either; where the log cannot be read, the reader is to come again; and who
    // has lost access does not get what is still buffered.
    else response.destroy();
    return reply;
  });
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
  const message = `this ${whose} has ${holder.most} event streams open, the most allowed; close one, or share one stream`;
  return sendError(reply, errorAnswer(429, "rate_limit_exceeded", message));
}

/** Where the log begins, when that is behind the place to go on from: changes between them are not known any more. */
async function cutBehind(store: RecordStore, asked: number): Promise<number | undefined> {
  const [first] = await store.changesAfter(0, 1);
  return first !== undefined && asked < first.position - 1 ? first.position - 1 : undefined;
}

/** An id without data is no event, but a place to go on from. */
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
