import type { IncomingMessage, ServerResponse } from "node:http";
import {
  heartbeatInterval,
  type InterfaceEvent,
  interfaceEvents,
  reconnectDelay,
} from "../../contract/interface-events.ts";
import type { FeedState, ReportFeed } from "../report/feed.ts";

export type EventsOptions = {
  readonly feed: ReportFeed;
  /** More streams than this are refused: each costs a connection for as long as it lasts. */
  readonly most?: number;
  /** Milliseconds. */
  readonly heartbeat?: number;
};

/** Whether he who listens is still let in. */
type MayStay = () => Promise<boolean>;

export type EventStreams = {
  /** False when there are too many already; nothing was sent then. */
  readonly open: (request: IncomingMessage, response: ServerResponse, mayStay: MayStay) => Promise<boolean>;
  readonly close: () => void;
};

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // nginx would hold events back until its buffer is full.
  "x-accel-buffering": "no",
};

const heartbeatLine = ": heartbeat\n\n";

/** Server-sent events: a snapshot, every change, and a sign of life. */
export function createEventStreams({ feed, most = 500, heartbeat = heartbeatInterval }: EventsOptions): EventStreams {
  const streams = new Set<Stream>();
  let beat: NodeJS.Timeout | undefined;

  const add = (stream: Stream, response: ServerResponse) => {
    streams.add(stream);
    beat ??= setInterval(() => {
      for (const each of streams) each.heartbeat();
    }, heartbeat).unref();
    // Whoever goes on to listen would take what he has for what is; asking, he is told why it is not known.
    const leave = feed.follow(stream.change, stream.end);
    response.once("close", () => {
      leave();
      streams.delete(stream);
      if (streams.size > 0) return;
      clearInterval(beat);
      beat = undefined;
    });
  };

  return {
    open: async (request, response, mayStay) => {
      if (streams.size >= most) return false;
      const state = await feed.current();
      if (response.destroyed) return true;
      response.writeHead(200, headers);
      if (request.method === "HEAD") {
        response.end();
        return true;
      }
      const known = request.headers["last-event-id"] === state.id;
      response.write(`retry: ${reconnectDelay}\n\n${known ? heartbeatLine : frame(interfaceEvents.snapshot, state)}`);
      add(createStream(response, mayStay), response);
      return true;
    },
    close: () => {
      for (const stream of streams) stream.end();
    },
  };
}

type Stream = {
  readonly change: (state: FeedState) => void;
  readonly heartbeat: () => void;
  readonly end: () => void;
};

/**
 * One listener. While he does not read, nothing is piled up for him: of the changes meanwhile he gets the last. One who does
 * not read for two heartbeats is gone.
 */
function createStream(response: ServerResponse, mayStay: MayStay): Stream {
  let [owed, silent] = [undefined as FeedState | undefined, 0];
  const stays = async (): Promise<boolean> => {
    const good = await mayStay().catch(() => false);
    if (!good) response.destroy();
    return good && !response.writableEnded;
  };
  const change = async (state: FeedState) => {
    owed = state;
    if (!(await stays()) || owed === undefined || response.writableNeedDrain) return;
    response.write(changeFrame(owed));
    owed = undefined;
  };
  const heartbeat = async () => {
    if (!(await stays())) return;
    if (!response.writableNeedDrain) response.write(heartbeatLine);
    else if (silent++ > 1) response.destroy();
  };
  response.on("drain", () => {
    silent = 0;
    if (owed !== undefined) void change(owed);
  });
  return {
    change: (state) => void change(state),
    heartbeat: () => void heartbeat(),
    end: () => response.end(),
  };
}

/** A hundred listeners hear of one change: its bytes are made once. */
const frames = new WeakMap<FeedState, Buffer>();
function changeFrame(state: FeedState): Buffer {
  const made = frames.get(state) ?? Buffer.from(frame(interfaceEvents.change, state), "latin1");
  frames.set(state, made);
  return made;
}

/** The report is one line of ASCII. */
const frame = (event: InterfaceEvent, { id, snapshot }: FeedState): string =>
  `id: ${id}\nevent: ${event}\ndata: ${snapshot.text}\n\n`;
