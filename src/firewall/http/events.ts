import type { IncomingMessage, ServerResponse } from "node:http";
import {
  heartbeatInterval,
  type InterfaceEvent,
  interfaceEvents,
  reconnectDelay,
} from "../../contract/interface-events.ts";
import { type Holder, KeyedSemaphore, type Permit } from "../../lib/limits/semaphore.ts";
import type { FeedState, ReportFeed } from "../report/feed.ts";

export type EventsOptions = {
  readonly feed: ReportFeed;
  /** Changes with every write to the users, keys and sessions, including writes by another process. */
  readonly accessVersion: () => string;
  /** More streams than this are refused: each costs a connection for as long as it lasts. */
  readonly most?: number;
  /** Milliseconds. */
  readonly heartbeat?: number;
};

/** Whether the listener still has access. */
type MayStay = () => Promise<boolean>;

export type Listener = { readonly mayStay: MayStay; readonly holders: readonly Holder[] };

/** Concurrent streams per key or console session, and per user in total. */
const mostStreams = { ofKey: 20, ofUser: 100 };

export const holdersOf = (kind: "key" | "session", id: string | number, user: string): readonly Holder[] => [
  { name: `${kind} ${id}`, most: mostStreams.ofKey },
  { name: `user ${user}`, most: mostStreams.ofUser },
];

/** The error message when a limit is reached. */
export const fullText = ({ holder }: { readonly holder?: Holder }): string =>
  holder === undefined
    ? "Too many event streams are open; try again later"
    : `This ${holder.name.split(" ")[0]} has ${holder.most} event streams open, the maximum; close one, or share a stream`;

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Otherwise nginx would buffer the events.
  "x-accel-buffering": "no",
};

/** Milliseconds until a key is noticed that another process, such as `moor key revoke`, has revoked. */
const checkEvery = 250;

const heartbeatLine = ": heartbeat\n\n";

/** Server-sent events: a snapshot, every change, and heartbeats. */
export class InterfaceEventStreams {
  readonly #options: EventsOptions;
  readonly #streams = new Set<Stream>();
  readonly #permits: KeyedSemaphore;
  #timers: readonly NodeJS.Timeout[] = [];
  #version = "";

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#permits = new KeyedSemaphore(options.most ?? 500);
  }

  /** `full` if there are already too many; then nothing was sent. */
  async open(
    request: IncomingMessage,
    response: ServerResponse,
    { mayStay, holders }: Listener,
  ): Promise<"taken" | Extract<Permit, { kind: "full" }>> {
    const permit = this.#permits.tryAcquire(holders);
    if (permit.kind === "full") return permit;
    response.once("close", permit.release);
    const state = await this.#options.feed.current();
    if (response.destroyed) return "taken";
    response.writeHead(200, headers);
    if (request.method === "HEAD") {
      response.end();
      return "taken";
    }
    const isSameStream = request.headers["last-event-id"] === state.id;
    response.write(
      `retry: ${reconnectDelay}\n\n${isSameStream ? heartbeatLine : frame(interfaceEvents.snapshot, state)}`,
    );
    this.#add(createStream(response, mayStay), response);
    return "taken";
  }

  /** Ends the streams of listeners who have lost access since the last check. */
  checkAccess(): void {
    if (this.#streams.size === 0) return;
    const version = versionOr(this.#options.accessVersion, this.#version);
    if (version !== this.#version) for (const each of this.#streams) each.check();
    this.#version = version;
  }

  close(): void {
    this.#stopTimers();
    for (const stream of this.#streams) stream.end();
  }

  #add(stream: Stream, response: ServerResponse): void {
    this.#streams.add(stream);
    // Access may have been lost between the first check and now.
    stream.check();
    if (this.#timers.length === 0) this.#startTimers();
    // A client that kept listening would mistake stale data for current; when it reconnects, it gets the error.
    const stopFollowing = this.#options.feed.follow(stream.change, stream.end);
    response.once("close", () => {
      stopFollowing();
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#stopTimers();
    });
  }

  #startTimers(): void {
    const beat = () => {
      for (const each of this.#streams) each.heartbeat();
    };
    const heartbeat = this.#options.heartbeat ?? heartbeatInterval;
    this.#timers = [setInterval(beat, heartbeat).unref(), setInterval(() => this.checkAccess(), checkEvery).unref()];
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }
}

/**
 * If the file cannot be read now, the next check tries again; only a stream that has something to send ends, by its own
 * check.
 */
function versionOr(read: () => string, before: string): string {
  try {
    return read();
  } catch {
    return before;
  }
}

type Stream = {
  readonly check: () => void;
  readonly change: (state: FeedState) => void;
  readonly heartbeat: () => void;
  readonly end: () => void;
};

/**
 * One listener. While it does not read, nothing is queued for it: it gets only the latest change. A listener that does
 * not read for two heartbeats is disconnected.
 */
function createStream(response: ServerResponse, mayStay: MayStay): Stream {
  let [unsent, silent] = [undefined as FeedState | undefined, 0];
  const stays = async (): Promise<boolean> => {
    const good = await mayStay().catch(() => false);
    if (!good) response.destroy();
    return good && !response.writableEnded;
  };
  const change = async (state: FeedState) => {
    unsent = state;
    if (!(await stays()) || unsent === undefined || response.writableNeedDrain) return;
    response.write(changeFrame(unsent));
    unsent = undefined;
  };
  const heartbeat = async () => {
    if (!(await stays())) return;
    if (!response.writableNeedDrain) response.write(heartbeatLine);
    else if (silent++ > 1) response.destroy();
  };
  response.on("drain", () => {
    silent = 0;
    if (unsent !== undefined) void change(unsent);
  });
  return {
    check: () => void stays(),
    change: (state) => void change(state),
    heartbeat: () => void heartbeat(),
    end: () => response.end(),
  };
}

/** A change may go to a hundred listeners, but its bytes are encoded once. */
const frames = new WeakMap<FeedState, Buffer>();
function changeFrame(state: FeedState): Buffer {
  const made = frames.get(state) ?? Buffer.from(frame(interfaceEvents.change, state), "latin1");
  frames.set(state, made);
  return made;
}

/** The report is one line of ASCII. */
const frame = (event: InterfaceEvent, { id, snapshot }: FeedState): string =>
  `id: ${id}\nevent: ${event}\ndata: ${snapshot.text}\n\n`;
