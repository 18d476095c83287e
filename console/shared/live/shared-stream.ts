export type LiveState = "live" | "connecting";

export type StreamListener = {
  readonly onState: (state: LiveState) => void;
  /** For every connection, including the first: events may have been missed before it. */
  readonly onOpen: () => void;
  readonly onEvent: (data: unknown, name: string) => void;
  /** The service responded, but not with events. */
  readonly onRefused: () => void;
};

export type StreamOptions = {
  readonly path: string;
  /** Tabs of different users do not share a stream. */
  readonly user: string;
  readonly names: readonly string[];
  /** Each event carries the whole state, so a tab that joins gets the last one. */
  readonly repeatsLast: boolean;
};

/** Milliseconds between two checks that the service still responds: a stream without events does not show it. */
const lookEvery = 15_000;
const patience = 10_000;

/**
 * Milliseconds between two heartbeats of the tab that has the stream; after three missing ones, another tab takes over.
 */
const beatEvery = 5_000;

type Heard = { readonly name: string; readonly data: unknown };

/** Messages between tabs. All but `ask` come from the tab that has the stream. */
type StreamMessage =
  | { readonly kind: "ask" }
  | { readonly kind: "event"; readonly event: Heard }
  | { readonly kind: "state"; readonly state: LiveState; readonly last?: Heard | undefined };

/**
 * Server-sent events for all visible tabs of a browser over one connection: a browser opens at most six per host, and
 * further requests would wait. The tab that holds a lock has the stream and passes everything on; when it is hidden,
 * closed or hangs, another takes over. If all are hidden there is no stream. Returns a function that stops listening.
 */
export function joinStream(options: StreamOptions, listener: StreamListener): () => void {
  let tab: Tab | undefined;
  const show = () => {
    const isVisible = document.visibilityState === "visible";
    if (isVisible && tab === undefined) {
      tab = new Tab(options, listener);
    } else if (!isVisible) {
      tab?.leave();
      tab = undefined;
    }
  };
  show();
  document.addEventListener("visibilitychange", show);
  return () => {
    document.removeEventListener("visibilitychange", show);
    tab?.leave();
  };
}

type Lead = { readonly leave: () => void; readonly ended: Promise<void> };

/** A visible tab: it leads, and then has the stream, or hears what the leading one passes on. */
class Tab {
  readonly #options: StreamOptions;
  readonly #listener: StreamListener;
  readonly #name: string;
  // Web Locks need TLS or a loopback address; without them each tab has its own stream.
  readonly #locks = navigator.locks as LockManager | undefined;
  readonly #channel: BroadcastChannel;
  readonly #leaving = new AbortController();
  readonly #watch: ReturnType<typeof setInterval>;
  #state: LiveState = "connecting";
  #last: Heard | undefined;
  #leading: Lead | undefined;
  #silence = 0;

  constructor(options: StreamOptions, listener: StreamListener) {
    this.#options = options;
    this.#listener = listener;
    this.#name = `moor ${options.path} ${options.user}`;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => this.receive(data);
    this.#watch = setInterval(() => this.#checkSilence(), beatEvery);
    this.#setState("connecting");
    if (this.#locks) void this.#queue({ signal: this.#leaving.signal });
    else this.#leading = this.#lead();
    this.send({ kind: "ask" });
  }

  leave(): void {
    clearInterval(this.#watch);
    this.#leaving.abort();
    this.#leading?.leave();
    this.#channel.close();
    this.#listener.onState("connecting");
  }

  send(said: StreamMessage): void {
    if (this.#locks) this.#channel.postMessage(said);
  }

  #sayState(): void {
    this.send({ kind: "state", state: this.#state, last: this.#last });
  }

  #hasLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  #setState(next: LiveState): void {
    const opened = next === "live" && this.#state !== "live";
    this.#state = next;
    this.#listener.onState(next);
    if (opened) this.#listener.onOpen();
  }

  #hear(event: Heard): void {
    if (this.#options.repeatsLast) this.#last = event;
    this.#listener.onEvent(event.data, event.name);
  }

  receive(said: StreamMessage): void {
    if (said.kind === "ask") {
      if (this.#leading) this.#sayState();
      return;
    }
    if (this.#leading) return;
    this.#silence = 0;
    if (said.kind === "event") return this.#hear(said.event);
    const joins = said.state === "live" && this.#state !== "live";
    this.#setState(said.state);
    if (joins && said.last) this.#hear(said.last);
  }

  #lead(): Lead {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    // Events between the last stream and this one may be missed.
    this.#setState("connecting");
    this.#sayState();
    const stream = openStream(this.#options, {
      onState: (next) => {
        this.#setState(next);
        this.#sayState();
      },
      onEvent: (event) => {
        this.#hear(event);
        this.send({ kind: "event", event });
      },
      onRefused: this.#listener.onRefused,
    });
    const beat = setInterval(() => this.#sayState(), beatEvery);
    const leave = () => {
      clearInterval(beat);
      stream.close();
      resolve();
    };
    return { ended, leave };
  }

  async #queue(lock: LockOptions): Promise<void> {
    let own: Lead | undefined;
    const granted = () => {
      if (this.#hasLeft() || this.#leading) return undefined;
      own = this.#lead();
      this.#leading = own;
      return own.ended;
    };
    try {
      await this.#locks?.request(this.#name, lock, granted);
    } catch {
      // This tab is leaving, or another one took the lock because it heard nothing from this one.
      if (own === undefined || this.#hasLeft()) return;
      own.leave();
      this.#leading = undefined;
      this.#setState("connecting");
      await this.#queue({ signal: this.#leaving.signal });
    }
  }

  #checkSilence(): void {
    if (this.#leading || this.#silence++ < 3) return;
    this.#silence = 0;
    this.#setState("connecting");
    void this.#queue({ steal: true });
  }
}

type StreamOwner = Pick<StreamListener, "onState" | "onRefused"> & { readonly onEvent: (event: Heard) => void };

/** Keeps a stream open: reconnects if it is lost, even if only missing responses show that. */
function openStream({ path, names }: StreamOptions, owner: StreamOwner): { readonly close: () => void } {
  let stream: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  const closed = new AbortController();

  const connect = () => {
    stream = new EventSource(path);
    stream.onopen = () => {
      failures = 0;
      owner.onState("live");
    };
    for (const name of names) stream.addEventListener(name, ({ data }) => owner.onEvent({ name, data: parsed(data) }));
    stream.onerror = () => {
      // The session may have ended.
      if (stream.readyState === EventSource.CLOSED) owner.onRefused();
      lose();
    };
  };
  // The browser itself stops retrying when the service responds with an error.
  const lose = () => {
    owner.onState("connecting");
    stream.close();
    clearTimeout(timer);
    timer = setTimeout(connect, Math.min(5_000, 500 * 2 ** failures++));
  };
  const look = async () => {
    const watched = stream;
    const served = await isServed(closed.signal);
    // If other requests are answered while the stream is still connecting, the network may have lost its connection.
    if (served && (stream !== watched || stream.readyState !== EventSource.CONNECTING)) return;
    if (!closed.signal.aborted) lose();
  };
  connect();
  const looking = setInterval(() => void look(), lookEvery);
  return {
    close: () => {
      clearTimeout(timer);
      clearInterval(looking);
      closed.abort();
      stream.close();
    },
  };
}

const isServed = (signal: AbortSignal): Promise<boolean> =>
  fetch(location.pathname, {
    cache: "no-store",
    signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
  }).then(
    ({ status }) => status < 500,
    () => false,
  );

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
