import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { afterAwake } from "../../process/after-awake.ts";
import type { NoteFailure } from "../http/failed-requests.ts";
import type { RecordService } from "../service/service.ts";
import type { RecordStore } from "../store/port.ts";
import { sendError, sendFaults } from "./answer.ts";
import { createEventStreams, type EventSink } from "./change-events.ts";
import { errorAnswer } from "./errors.ts";
import { badInput } from "./faults.ts";
import { errors } from "./schema.ts";

export type EventOptions = {
  readonly service: RecordService;
  readonly store: RecordStore;
  /** Whether the token that came with the request is still good. */
  readonly stillGood: (request: FastifyRequest) => Promise<boolean>;
  readonly noteFailure: NoteFailure;
  /** Milliseconds; a proxy or a sleeping machine is noticed by these. */
  readonly heartbeat?: number;
  /** Milliseconds in which a reader must take what was sent to it. */
  readonly patience?: number;
  /** Told how many readers there are. */
  readonly streams?: { open: number };
};

const mostStreams = 1_000;

/** Not in the original API: changes as they come, to everyone who may see them. */
export function rrsetsEventRoutes(api: FastifyInstance, options: EventOptions): void {
  const { store, service, noteFailure } = options;
  const streams = createEventStreams(store, service.rrsets.maySee);
  const open = new Set<AbortController>();
  const { streams: counted = { open: 0 } } = options;
  api.addHook("preClose", async () => {
    streams.close();
    for (const stream of open) stream.abort();
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
    response: { 200: Type.String({ description: "text/event-stream; the data of each event is a Change" }), ...errors },
  };
  api.get("/events", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const asked = request.headers["last-event-id"];
    if (asked !== undefined && !/^\d{1,15}$/.test(String(asked))) {
      return sendFaults(reply, [badInput("Last-Event-ID", "must be the id of an event")]);
    }
    if (open.size >= mostStreams) return sendError(reply, errorAnswer(503, "unavailable", "too many event streams"));
    const last = await store.lastChange();
    const cut = asked === undefined ? undefined : await cutBehind(store, Number(asked));
    const from = asked === undefined ? last : Math.min(cut ?? Number(asked), last);
    const stream = new AbortController();
    open.add(stream);
    counted.open = open.size;
    const response = begin(reply, from, stream);
    if (cut !== undefined)
      response.write(`event: cut\ndata: ${JSON.stringify({ asked: Number(asked), from: cut })}\n\n`);
    const beat = setInterval(() => void pulse(request, response, stream, options), options.heartbeat ?? 15_000);
    const sink = sinkOf(response, options.patience ?? 10_000);
    await streams.follow(request.actor, from, sink, stream.signal).catch((error) => noteFailure(error, request.id));
    clearInterval(beat);
    open.delete(stream);
    counted.open = open.size;
    if (stream.signal.aborted) response.end();
    // Who takes nothing would not take the end either; where the log cannot be read, the reader is to come again.
    else response.destroy();
    return reply;
  });
}

/** Where the log begins, when that is behind the place to go on from: changes between them are not known any more. */
async function cutBehind(store: RecordStore, asked: number): Promise<number | undefined> {
  const [first] = await store.changesAfter(0, 1);
  return first !== undefined && asked < first.position - 1 ? first.position - 1 : undefined;
}

/** An id without data is no event, but a place to go on from. */
function begin(reply: FastifyReply, from: number, stream: AbortController): ServerResponse {
  reply.hijack();
  const response = reply.raw;
  response.on("close", () => stream.abort());
  response.on("error", () => stream.abort());
  reply.headers({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  for (const [name, value] of Object.entries(reply.getHeaders())) response.setHeader(name, value ?? "");
  response.write(`retry: 1000\nid: ${from}\n\n`);
  return response;
}

async function pulse(
  request: FastifyRequest,
  response: ServerResponse,
  stream: AbortController,
  { stillGood }: EventOptions,
): Promise<void> {
  const good = await stillGood(request).catch(() => false);
  if (!good) stream.abort();
  else if (!response.writableNeedDrain) response.write(": still here\n\n");
}

function sinkOf(response: ServerResponse, patience: number): EventSink {
  return async (text) => {
    if (response.destroyed) return false;
    if (response.write(text)) return true;
    return await drained(response, patience);
  };
}

/** Nobody can take anything from a process that stands still itself. */
async function drained(response: ServerResponse, patience: number): Promise<boolean> {
  const late = new AbortController();
  const callOff = afterAwake(patience, () => late.abort(), { ref: false });
  return await once(response, "drain", { signal: late.signal })
    .then(
      () => true,
      () => false,
    )
    .finally(callOff);
}
