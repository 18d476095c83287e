import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { sessionKey } from "./session-cache.ts";

export type LiveState = "live" | "connecting";

/**
 * Listens to a server-sent stream for as long as the page is open. `onOpen` hears of every connection, the first too:
 * something may have been missed before it, so that what is shown already must be read again. Without a path there is nothing to listen to.
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
        setState("connecting");
        // The service answers, but not with events: the session may have ended.
        if (stream?.readyState === EventSource.CLOSED) void queries.invalidateQueries({ queryKey: sessionKey });
        // The browser's own retries end for good when the service answers with an error.
        stream?.close();
        timer = setTimeout(connect, Math.min(5_000, 500 * 2 ** failures++));
      };
    };
    // A browser has six connections to a host for all its tabs: those that nobody sees give theirs back.
    const onVisible = () => {
      clearTimeout(timer);
      stream?.close();
      if (document.visibilityState === "visible") connect();
    };
    connect();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      clearTimeout(timer);
      stream?.close();
    };
  }, [path, wanted, queries]);
  return path === undefined ? undefined : state;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
