import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { type Asking, type AskOptions, nameOf, type Peer } from "../../lib/dns/ask.ts";
import { classes, opcodes, types } from "../../lib/dns/codes.ts";
import type { Logger } from "../../process/log.ts";

/** Notifies other nameservers that a zone has changed (RFC 1996). */
export type Notifier = {
  readonly changed: (zone: string) => void;
  readonly close: () => Promise<void>;
};

/** The key is looked up for each message, so that a revoked one is not used again. */
export type NotifyTarget = { readonly host: string; readonly port: number; readonly keyName: string | undefined };

export type NotifierOptions = {
  readonly targets: readonly NotifyTarget[];
  /** Undefined when there is no key with the target's key name. */
  readonly peerOf: (target: NotifyTarget) => Promise<Peer | undefined>;
  readonly ask: (peer: Peer, asking: Asking, options: AskOptions) => Promise<unknown>;
  readonly now: () => Instant;
  readonly log: Logger;
  readonly limits?: NotifyLimits;
};

export type NotifyLimits = {
  /** Milliseconds to wait for an answer, per try. */
  readonly tries: readonly number[];
  /** Milliseconds between two messages about one zone: the second covers all changes in between. */
  readonly apart: number;
  /** Zones that one target is notified of at the same time. */
  readonly atOnce: number;
};

const defaultLimits: NotifyLimits = { tries: [1_000, 2_000, 4_000, 8_000, 16_000], apart: 10, atOnce: 64 };

export function createNotifier(options: NotifierOptions): Notifier {
  const stop = new AbortController();
  const lines = options.targets.map((target) => createLine(target, options, stop.signal));
  return {
    changed: (zone) => {
      for (const line of lines) line.changed(zone);
    },
    close: async () => {
      stop.abort();
      await Promise.all(lines.map((line) => line.ended()));
    },
  };
}

/** The queue of one target. A zone that changes again while its NOTIFY is being sent waits in `waiting` too. */
function createLine(target: NotifyTarget, options: NotifierOptions, signal: AbortSignal) {
  const { log, limits = defaultLimits } = options;
  const waiting = new Set<string>();
  const notifying = new Map<string, Promise<void>>();
  let silent = false;

  const answered = (yes: boolean, because: string) => {
    if (yes === !silent) return;
    silent = !yes;
    const fields = { nameserver: nameOf(target) };
    if (silent)
      log.warn(
        { ...fields, because },
        "a nameserver does not answer NOTIFY messages; it is notified again at the next change",
      );
    else log.info(fields, "the nameserver answers NOTIFY messages again");
  };

  const notify = async (zone: string): Promise<void> => {
    let because = "";
    for (const limit of limits.tries) {
      const peer = await options.peerOf(target);
      if (peer === undefined) return answered(false, `there is no transfer key ${target.keyName}`);
      const asked = options.now();
      try {
        await options.ask(peer, notifyAbout(zone), { signal, limit, now: options.now });
        return answered(true, "");
      } catch (error) {
        if (signal.aborted) return;
        because = (error as Error).message;
        // A refusal may come immediately, but the server may be back soon.
        await sleep(Math.min(limit, Math.max(0, asked + limit - options.now())), undefined, { signal });
        // The next try covers what has changed since.
        waiting.delete(zone);
      }
    }
    answered(false, because);
  };

  const run = async (zone: string): Promise<void> => {
    try {
      await Promise.all([notify(zone), sleep(limits.apart, undefined, { signal })]);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, zone }, "a NOTIFY message could not be sent");
    } finally {
      notifying.delete(zone);
      pump();
    }
  };

  const pump = () => {
    for (const zone of waiting) {
      if (signal.aborted || notifying.size >= limits.atOnce) return;
      if (notifying.has(zone)) continue;
      waiting.delete(zone);
      notifying.set(zone, run(zone));
    }
  };

  return {
    changed: (zone: string) => {
      waiting.add(zone);
      pump();
    },
    ended: async () => {
      await Promise.all(notifying.values());
    },
  };
}

const notifyAbout = (zone: string): Asking => ({
  opcode: opcodes.notify,
  authoritative: true,
  question: { name: zone, type: types.soa, class: classes.in },
});
