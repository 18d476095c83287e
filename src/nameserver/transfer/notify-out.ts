import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { type AskOptions, type DnsRequest, nameOf, type Peer } from "../../lib/dns/ask.ts";
import { classes, opcodes, types } from "../../lib/dns/codes.ts";
import type { Logger } from "../../process/log.ts";

/** The key is looked up for each message, so that a revoked one is not used again. */
export type NotifyTarget = { readonly host: string; readonly port: number; readonly keyName: string | undefined };

export type NotifierOptions = {
  readonly targets: readonly NotifyTarget[];
  /** Undefined when there is no key with the target's key name. */
  readonly peerOf: (target: NotifyTarget) => Promise<Peer | undefined>;
  readonly ask: (peer: Peer, asking: DnsRequest, options: AskOptions) => Promise<unknown>;
  readonly now: () => Instant;
  readonly log: Logger;
  readonly limits?: NotifyLimits;
};

export type NotifyLimits = {
  /** Milliseconds to wait for an answer, per try. */
  readonly tries: readonly number[];
  /** Milliseconds between two messages about one zone: the second covers all changes in between. */
  readonly interval: number;
  /** Zones that one target is notified of at the same time. */
  readonly atOnce: number;
};

const defaultLimits: NotifyLimits = { tries: [1_000, 2_000, 4_000, 8_000, 16_000], interval: 10, atOnce: 64 };

/** Notifies other nameservers that a zone has changed (RFC 1996). */
export function createNotifier(options: NotifierOptions) {
  const stop = new AbortController();
  const queues = options.targets.map((target) => new TargetQueue(target, options, stop.signal));
  return {
    changed: (zone: string): void => {
      for (const queue of queues) queue.changed(zone);
    },
    close: async (): Promise<void> => {
      stop.abort();
      await Promise.all(queues.map((queue) => queue.ended()));
    },
  };
}

/** The queue of one target. A zone that changes again while its NOTIFY is being sent waits in `#waiting` too. */
class TargetQueue {
  readonly #target: NotifyTarget;
  readonly #options: NotifierOptions;
  readonly #limits: NotifyLimits;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<string>();
  readonly #notifying = new Map<string, Promise<void>>();
  #silent = false;

  constructor(target: NotifyTarget, options: NotifierOptions, signal: AbortSignal) {
    this.#target = target;
    this.#options = options;
    this.#limits = options.limits ?? defaultLimits;
    this.#signal = signal;
  }

  changed(zone: string): void {
    this.#waiting.add(zone);
    this.#startWaiting();
  }

  async ended(): Promise<void> {
    await Promise.all(this.#notifying.values());
  }

  #startWaiting(): void {
    for (const zone of this.#waiting) {
      if (this.#signal.aborted || this.#notifying.size >= this.#limits.atOnce) return;
      if (this.#notifying.has(zone)) continue;
      this.#waiting.delete(zone);
      this.#notifying.set(zone, this.#run(zone));
    }
  }

  async #run(zone: string): Promise<void> {
    const signal = this.#signal;
    try {
      await Promise.all([this.#notify(zone), sleep(this.#limits.interval, undefined, { signal })]);
    } catch (error) {
      if (!signal.aborted) this.#options.log.error({ err: error, zone }, "a NOTIFY message could not be sent");
    } finally {
      this.#notifying.delete(zone);
      this.#startWaiting();
    }
  }

  async #notify(zone: string): Promise<void> {
    const { peerOf, ask, now } = this.#options;
    const signal = this.#signal;
    let because = "";
    for (const limit of this.#limits.tries) {
      const peer = await peerOf(this.#target);
      if (peer === undefined) return this.#answered(false, `there is no transfer key ${this.#target.keyName}`);
      const sentAt = now();
      try {
        await ask(peer, notifyAbout(zone), { signal, limit, now });
        return this.#answered(true, "");
      } catch (error) {
        if (signal.aborted) return;
        because = (error as Error).message;
        // A refusal may come immediately, but the server may be back soon.
        await sleep(Math.min(limit, Math.max(0, sentAt + limit - now())), undefined, { signal });
        // The next try covers what has changed since.
        this.#waiting.delete(zone);
      }
    }
    this.#answered(false, because);
  }

  #answered(yes: boolean, because: string): void {
    if (yes === !this.#silent) return;
    this.#silent = !yes;
    const { log } = this.#options;
    const fields = { nameserver: nameOf(this.#target) };
    if (this.#silent)
      log.warn(
        { ...fields, because },
        "a nameserver does not answer NOTIFY messages; it is notified again at the next change",
      );
    else log.info(fields, "the nameserver answers NOTIFY messages again");
  }
}

const notifyAbout = (zone: string): DnsRequest => ({
  opcode: opcodes.notify,
  authoritative: true,
  question: { name: zone, type: types.soa, class: classes.in },
});
