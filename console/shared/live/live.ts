import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { sessionKey } from "../session/session-cache.ts";

export type LiveState = "live" | "connecting";

/** Milliseconds between two checks that the service still responds: a stream without events does not show it. */
const lookEvery = 15_000;
const patience = 10_000;

/**
 * Listens to a stream of server-sent events while the page is open. `onOpen` is called for every connection, including the first:
 * events may have been missed before it, so data that is already shown must be read again. Without a path it does nothing.
 */
export function useLive(
  path: string | undefined,
  names: readonly string[],
  onEvent: (data: unknown, name: string) => void,
  onOpen: () => void,
): LiveState | undefined {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const handlers = useRef({ onEvent, onOpen });
  handlers.current = { onEvent, onOpen };
  const wanted = names.join(" ");

  useEffect(() => {
    if (path === undefined) return undefined;
    let stream: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    const ended = new AbortController();

    const connect = () => {
      stream = new EventSource(path);
      stream.onopen = () => {
        failures = 0;
        setState("live");
        handlers.current.onOpen();
      };
      for (const name of wanted.split(" ")) {
        stream.addEventListener(name, (event) => handlers.current.onEvent(parsed(event.data), name));
      }
      stream.onerror = () => {
        // The service responded, but not with events: the session may have ended.
        if (stream?.readyState === EventSource.CLOSED) void queries.invalidateQueries({ queryKey: sessionKey });
        lose();
      };
    };
    // The browser itself stops retrying when the service responds with an error.
    const lose = () => {
      setState("connecting");
      stream?.close();
      clearTimeout(timer);
      timer = setTimeout(connect, Math.min(5_000, 500 * 2 ** failures++));
    };
    const look = async () => {
      const watched = stream;
      if (document.visibilityState !== "visible") return;
      const served = await isServed(ended.signal);
      // If other requests are answered while the stream is still connecting, the network may have lost its connection.
      if (served && (stream !== watched || stream?.readyState !== EventSource.CONNECTING)) return;
      if (document.visibilityState === "visible" && !ended.signal.aborted) lose();
    };
    // A browser opens at most six connections per host across all tabs, so hidden tabs close theirs.
    const onVisible = () => {
      clearTimeout(timer);
      stream?.close();
      if (document.visibilityState === "visible") connect();
    };
    connect();
    const looking = setInterval(() => void look(), lookEvery);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      clearTimeout(timer);
      clearInterval(looking);
      ended.abort();
      stream?.close();
    };
  }, [path, wanted, queries]);
  return path === undefined ? undefined : state;
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
