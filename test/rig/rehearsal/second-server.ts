import type { ServerView } from "../../../src/core/dnssec/parent-view.ts";
import type { Instant } from "../../../src/core/instant.ts";
import type { Message } from "../../../src/lib/dns/message.ts";

type Seen = {
  readonly text: string;
  readonly message: Message;
  readonly view: ServerView;
  /** When it arrives at the second server, and until when that does not answer. */
  readonly arrives: Instant;
  readonly silentUntil: Instant;
};

/**
 * A second nameserver of the parent, which has the records of the first one only after a while. `first` reads the DS
 * records of the zone from the first server, as resolvers and as moor get them.
 */
export function createSecondServer(
  name: string,
  first: () => Promise<{ readonly message: Message; readonly view: ServerView }>,
) {
  const seen: Seen[] = [];
  let [delay, shown]: [number, Seen | undefined] = [0, undefined];
  return {
    /** From now on, changes arrive this many milliseconds later. */
    setDelay: (milliseconds: number): void => {
      delay = milliseconds;
    },
    /** Notes what the first server has now. Returns whether the second one has changed. */
    update: async (now: Instant): Promise<boolean> => {
      const { message, view } = await first();
      const text = JSON.stringify(view);
      const times = { arrives: now + delay, silentUntil: now + delay * silentFor };
      if (seen.at(-1)?.text !== text) seen.push({ text, message, view, ...times });
      const next = seen.findLast(({ arrives }) => arrives <= now) ?? seen[0];
      const isNew = next?.text !== shown?.text;
      shown = isNew ? next : shown;
      return isNew;
    },
    /** Whether a change has not arrived yet. */
    isBehind: (now: Instant): boolean => now < (seen.at(-1)?.arrives ?? 0),
    /** For resolvers: it always answers them. */
    ask: async () => {
      if (shown === undefined) throw new Error("the second server has no records yet");
      return shown.message;
    },
    /** For moor: while it waits for a change, it hardly ever answers. */
    view: (now: Instant): ServerView => {
      const last = seen.at(-1);
      if (shown === undefined || (last !== undefined && now < last.silentUntil))
        return { because: `${name} does not answer` };
      return "because" in shown.view ? shown.view : { ...shown.view, server: name };
    },
  };
}

/** The part of the delay in which it does not answer. */
const silentFor = 0.95;
