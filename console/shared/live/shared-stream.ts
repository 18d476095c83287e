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

/** Milliseconds between two heartbeats of the tab that has the stream; after three missing ones, another tab takes over. */
const beatEvery = 5_000;

type Heard = { readonly name: string; readonly data: unknown };

/** Messages between tabs. All but `ask` come from the tab that has the stream. */
type Said =
  | { readonly kind: "ask" }
  | { readonly kind: "event"; readonly event: Heard }
  | { readonly kind: "state"; readonly state: LiveState; readonly last?: Heard | undefined };

/**
 * Server-sent events for all visible tabs of a browser over one connection: a browser opens at most six per host, and further
 * requests would wait. The tab that holds a lock has the stream and passes everything on; when it is hidden, closed or hangs,
 * another takes over. If all are hidden there is no stream. Returns a function that stops listening.
 */
export function joinStream(options: StreamOptions, listener: StreamListener): () => void {
  let part: Part | undefined;
  const show = () => {
    const isVisible = document.visibilityState === "visible";
    if (isVisible && part === undefined) {
      part = takePart(options, listener);
    } else if (!isVisible) {
      part?.leave();
      part = undefined;
    }
  };
  show();
  document.addEventListener("visibilitychange", show);
  return () => {
    document.removeEventListener("visibilitychange", show);
    part?.leave();
  };
}

type Part = { readonly leave: () => void };
type Lead = Part & { readonly ended: Promise<void> };

function takePart(options: StreamOptions, listener: StreamListener): Part {
  const name = `moor ${options.path} ${options.user}`;
  // Web Locks need TLS or a loopback address; without them each tab has its own stream.
  const locks = navigator.locks as LockManager | undefined;
  const channel = new BroadcastChannel(name);
  const say = (said: Said) => {
    if (locks) channel.postMessage(said);
  };
  let state: LiveState = "connecting";
  let last: Heard | undefined;
  let leading: Lead | undefined;
  let silence = 0;
  let left = false;

  const setState = (next: LiveState) => {
    const opened = next === "live" && state !== "live";
    state = next;
    listener.onState(next);
    if (opened) listener.onOpen();
  };
  const hear = (event: Heard) => {
    if (options.repeatsLast) last = event;
    listener.onEvent(event.data, event.name);
  };
  const sayState = () => say({ kind: "state", state, last });

  channel.onmessage = ({ data: said }: MessageEvent<Said>) => {
    if (said.kind === "ask") {
      if (leading) sayState();
    } else if (!leading) {
      silence = 0;
      if (said.kind === "event") hear(said.event);
      else {
        const joins = said.state === "live" && state !== "live";
        setState(said.state);
        if (joins && said.last) hear(said.last);
      }
    }
  };

  const lead = (): Lead => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    // Events between the last stream and this one may be missed.
    setState("connecting");
    sayState();
    const stream = openStream(options, {
      onState: (next) => {
        setState(next);
        sayState();
      },
      onEvent: (event) => {
        hear(event);
        say({ kind: "event", event });
      },
      onRefused: listener.onRefused,
    });
    const beat = setInterval(sayState, beatEvery);
    const leave = () => {
      clearInterval(beat);
      stream.close();
      resolve();
    };
    return { ended, leave };
  };
  const leaving = new AbortController();
  const queue = async (lock: LockOptions): Promise<void> => {
    let own: Lead | undefined;
    const granted = () => {
      if (left || leading) return undefined;
      own = lead();
      leading = own;
      return own.ended;
    };
    try {
      await locks?.request(name, lock, granted);
    } catch {
      // This tab is leaving, or another one took the lock because it heard nothing from this one.
      if (own === undefined || left) return;
      own.leave();
      leading = undefined;
      setState("connecting");
      await queue({ signal: leaving.signal });
    }
  };
  const watch = setInterval(() => {
    if (leading || silence++ < 3) return;
    silence = 0;
    setState("connecting");
    void queue({ steal: true });
  }, beatEvery);

  setState("connecting");
  if (locks) void queue({ signal: leaving.signal });
  else leading = lead();
  say({ kind: "ask" });
  return {
    leave: () => {
      left = true;
      clearInterval(watch);
      leaving.abort();
      leading?.leave();
      channel.close();
      listener.onState("connecting");
    },
  };
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
