import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { ConsoleSession } from "../../../src/contract/console.ts";
import { sessionKey } from "../session/session-cache.ts";
import { joinStream, type LiveState, type StreamListener } from "./shared-stream.ts";

export type { LiveState } from "./shared-stream.ts";

export type LiveOptions = Pick<StreamListener, "onEvent"> & {
  /** Undefined: no stream. */
  readonly path: string | undefined;
  readonly names: readonly string[];
  /** Data that is already shown must be read again. Absent: each event carries everything. */
  readonly onOpen?: () => void;
};

/** Listens to a stream of server-sent events while the page is open and visible. */
export function useLive({ path, names, onEvent, onOpen }: LiveOptions): LiveState | undefined {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const handlers = useRef({ onEvent, onOpen });
  handlers.current = { onEvent, onOpen };
  const wanted = names.join(" ");
  const repeatsLast = onOpen === undefined;

  useEffect(() => {
    if (path === undefined) return undefined;
    const user = queries.getQueryData<ConsoleSession>(sessionKey)?.name ?? "";
    return joinStream(
      { path, user, names: wanted.split(" "), repeatsLast },
      {
        onState: setState,
        onOpen: () => handlers.current.onOpen?.(),
        onEvent: (data, name) => handlers.current.onEvent(data, name),
        onRefused: () => void queries.invalidateQueries({ queryKey: sessionKey }),
      },
    );
  }, [path, wanted, repeatsLast, queries]);
  return path === undefined ? undefined : state;
}
