import type { Instant } from "../../core/instant.ts";
import { longestHold } from "../http/retry-after.ts";
import { wasPutBack } from "../targets/clock-moved.ts";
import type { StateFile } from "./state-file.ts";

/** Until when services asked to be left alone (Retry-After), by the key of each. Kept over a restart. */
export type Holds = {
  until(key: string): Instant | undefined;
  /** The same before a write: the first one that a person wants may go out in spite of it. */
  untilForRequest(key: string): Instant | undefined;
  set(key: string, until: Instant): Promise<void>;
  /** What was written in spite of a hold went well: the service takes requests again. */
  succeeded(key: string): void;
  /** A person wants to know now: each service that is held gets one request. */
  allowOneTry(): void;
  /** It has not had that request yet. */
  isTryAllowed(key: string): boolean;
};

/** Milliseconds: the firewall may be slow to say what is to be written; what comes up long after has nothing to do with the wish. */
const allowedFor = 60_000;

export function createHolds(state: Pick<StateFile, "hold" | "setHold">, now: () => Instant): Holds {
  /** When each said so, as far as this process heard it. */
  const heldAt = new Map<string, Instant>();
  let allowedAt = Number.NEGATIVE_INFINITY;
  /** Which hold the request that a person wanted went out in spite of. */
  const defied = new Map<string, Instant>();

  const set = (key: string, until: Instant): Promise<void> => {
    heldAt.set(key, now());
    // Known in memory in any case; a disk that does not take it shows at the next stored address.
    return state.setHold(key, until).catch(() => undefined);
  };
  /** A hold further away than any service may ask for, or from a time to come, is from before the clock was put back. */
  const until = (key: string): Instant | undefined => {
    const held = wasPutBack(heldAt.get(key) ?? 0, now()) ? undefined : state.hold(key);
    return held !== undefined && held > now() && held - now() <= longestHold ? held : undefined;
  };
  const isTryAllowed = (key: string) => {
    const since = now() - allowedAt;
    return since >= 0 && since < allowedFor && !defied.has(key);
  };
  return {
    until,
    set,
    isTryAllowed,
    untilForRequest(key) {
      const held = until(key);
      if (held === undefined || !isTryAllowed(key)) return held;
      defied.set(key, held);
      return undefined;
    },
    succeeded(key) {
      // Not one that came since, as to a request that went out together with it.
      if (defied.has(key) && defied.get(key) === until(key)) void set(key, now());
    },
    allowOneTry() {
      allowedAt = now();
      defied.clear();
    },
  };
}
