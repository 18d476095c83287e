import type { ServerView } from "../../core/dnssec/parent-view.ts";
import type { Instant } from "../../core/instant.ts";
import type { Message } from "../../lib/dns/message.ts";
import type { Ask } from "./ask-all.ts";

/** A second nameserver of the parent, which has the records of the first one only after a while. */
export type SecondServer = {
  /** Notes what the first server has now. Returns whether the second one has changed. */
  readonly update: (now: Instant) => Promise<boolean>;
  /** From now on, changes arrive this many milliseconds later. */
  readonly setDelay: (milliseconds: number) => void;
  /** Whether a change has not arrived yet. */
  readonly isBehind: (now: Instant) => boolean;
  /** For resolvers: it always answers them. */
  readonly ask: Ask;
  /** For moor: while it waits for a change, it hardly ever answers. */
  readonly view: (now: Instant) => ServerView;
};

type Seen = {
  readonly text: string;
  readonly message: Message;
  readonly view: ServerView;
  /** When it arrives at the second server, and until when that does not answer. */
  readonly arrives: Instant;
  readonly silentUntil: Instant;
};

/** `first` reads the DS records of the zone from the first server, as resolvers and as moor get them. */
export function createSecondServer(
  name: string,
  first: () => Promise<{ readonly message: Message; readonly view: ServerView }>,
): SecondServer {
  const seen: Seen[] = [];
  let [delay, shown]: [number, Seen | undefined] = [0, undefined];
  return {
    setDelay: (milliseconds) => {
      delay = milliseconds;
    },
    update: async (now) => {
      const { message, view } = await first();
      const text = JSON.stringify(view);
      const times = { arrives: now + delay, silentUntil: now + delay * silentFor };
      if (seen.at(-1)?.text !== text) seen.push({ text, message, view, ...times });
      const next = seen.findLast(({ arrives }) => arrives <= now) ?? seen[0];
      const isNew = next?.text !== shown?.text;
      shown = isNew ? next : shown;
      return isNew;
    },
    isBehind: (now) => now < (seen.at(-1)?.arrives ?? 0),
    ask: async () => {
      if (shown === undefined) throw new Error("the second server has no records yet");
      return shown.message;
    },
    view: (now) => {
      const last = seen.at(-1);
      if (shown === undefined || (last !== undefined && now < last.silentUntil))
        return { because: `${name} does not answer` };
      return "because" in shown.view ? shown.view : { ...shown.view, server: name };
    },
  };
}

/** The part of the delay in which it does not answer. */
const silentFor = 0.95;
