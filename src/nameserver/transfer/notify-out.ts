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
  /** Milliseconds to wait for an answer. */
  readonly answer: number;
  /** Milliseconds after a message without an answer: the first pause, which is doubled up to the longest. */
  readonly pause: { readonly first: number; readonly longest: number };
  /** Milliseconds between two messages about one zone: the second covers all changes in between. */
  readonly interval: number;
  /** Zones that one target is notified of at the same time: after a change, and after a message without an answer. */
  readonly atOnce: { readonly changed: number; readonly unanswered: number };
};

const defaultLimits: NotifyLimits = {
  answer: 2_000,
  pause: { first: 1_000, longest: 300_000 },
  interval: 10,
  atOnce: { changed: 64, unanswered: 16 },
};

/** Messages about one zone without an answer after which a target that answers nothing is logged: some 20 seconds. */
const patience = 5;

/** Notifies other nameservers that a zone has changed (RFC 1996). */
export function createNotifier(options: NotifierOptions) {
  const stop = new AbortController();
  const queues = options.targets.map((target) => new TargetQueue(target, options, stop.signal));
  return {
    changed: (zone: string): void => {
      for (const queue of queues) queue.changed(zone);
    },
    /** The zone was deleted here. */
    deleted: (zone: string): void => {
      for (const queue of queues) queue.deleted(zone);
    },
    close: async (): Promise<void> => {
      stop.abort();
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

/** A zone whose last message was not answered. With a timer, its next one waits for that. */
type Unanswered = { readonly messages: number; readonly timer?: NodeJS.Timeout };

type Lane = { readonly waiting: Set<string>; readonly running: Map<string, Promise<void>>; readonly most: number };

/**
 * The queue of one target. A zone stays in it until the target has answered, or the zone is deleted:
 *
 *     changed ──► #changed ──► answered
 *                     │ no answer
 *                     ▼
 *                #unanswered ──► #again ──► answered
 *                     ▲   after a pause,     │ no answer
 *                     │   or when a silent   │
 *                     │   target answers     │
 *                     └──────────────────────┘
 *
 * The lanes are separate, because a target may ignore many zones for ever. A zone that changes while a message about it
 * is under way waits in `#changed` too.
 */
class TargetQueue {
  readonly #target: NotifyTarget;
  readonly #options: NotifierOptions;
  readonly #limits: NotifyLimits;
  readonly #signal: AbortSignal;
  readonly #changed: Lane;
  readonly #again: Lane;
  readonly #unanswered = new Map<string, Unanswered>();
  /** Answers so far. A message during which none arrived shows that the target is silent. */
  #answers = 0;
  #isSilent = false;
  #isLogged = false;

  constructor(target: NotifyTarget, options: NotifierOptions, signal: AbortSignal) {
    this.#target = target;
    this.#options = options;
    this.#limits = options.limits ?? defaultLimits;
    this.#signal = signal;
    const { changed, unanswered } = this.#limits.atOnce;
    this.#changed = { waiting: new Set(), running: new Map(), most: changed };
    this.#again = { waiting: new Set(), running: new Map(), most: unanswered };
  }

  changed(zone: string): void {
    this.#again.waiting.delete(zone);
    this.#changed.waiting.add(zone);
    this.#start();
  }

  deleted(zone: string): void {
    this.#changed.waiting.delete(zone);
    this.#again.waiting.delete(zone);
    this.#forget(zone);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#unanswered.values()) clearTimeout(timer);
    await Promise.all([...this.#changed.running.values(), ...this.#again.running.values()]);
  }

  #start(): void {
    for (const { waiting, running, most } of [this.#changed, this.#again])
      for (const zone of waiting) {
        if (this.#signal.aborted || running.size >= most) break;
        if (this.#changed.running.has(zone) || this.#again.running.has(zone)) continue;
        waiting.delete(zone);
        running.set(zone, this.#run(zone, running));
      }
  }

  async #run(zone: string, running: Lane["running"]): Promise<void> {
    const signal = this.#signal;
    try {
      await Promise.all([this.#notify(zone), sleep(this.#limits.interval, undefined, { signal })]);
    } catch (error) {
      if (!signal.aborted) this.#options.log.error({ err: error, zone }, "a NOTIFY message could not be sent");
    } finally {
      running.delete(zone);
      this.#start();
    }
  }

  async #notify(zone: string): Promise<void> {
    const { peerOf, ask, now } = this.#options;
    const before = this.#answers;
    try {
      const peer = await peerOf(this.#target);
      if (peer === undefined) throw new Error(`there is no transfer key ${this.#target.keyName}`);
      await ask(peer, notifyAbout(zone), { signal: this.#signal, limit: this.#limits.answer, now });
    } catch (error) {
      if (!this.#signal.aborted) this.#failed(zone, before, (error as Error).message);
      return;
    }
    this.#answers += 1;
    this.#forget(zone);
    if (this.#isSilent) this.#resume();
  }

  #failed(zone: string, answersBefore: number, because: string): void {
    const { first, longest } = this.#limits.pause;
    const messages = (this.#forget(zone)?.messages ?? 0) + 1;
    const pause = Math.min(longest, first * 2 ** (messages - 1));
    const timer = setTimeout(() => this.#repeat(zone), pause).unref();
    this.#unanswered.set(zone, { messages, timer });
    if (this.#answers !== answersBefore) return;
    this.#isSilent = true;
    if (messages < patience || this.#isLogged) return;
    this.#isLogged = true;
    this.#options.log.warn(
      { nameserver: nameOf(this.#target), because },
      "a nameserver does not answer NOTIFY messages; they are repeated every few minutes, and when it answers again",
    );
  }

  /** The target answers again: it has missed all messages before. */
  #resume(): void {
    this.#isSilent = false;
    for (const zone of this.#unanswered.keys()) this.#repeat(zone);
    if (!this.#isLogged) return;
    this.#isLogged = false;
    this.#options.log.info({ nameserver: nameOf(this.#target) }, "the nameserver answers NOTIFY messages again");
  }

  #repeat(zone: string): void {
    const { messages = 0, timer } = this.#unanswered.get(zone) ?? {};
    clearTimeout(timer);
    this.#unanswered.set(zone, { messages });
    if (!this.#changed.waiting.has(zone)) this.#again.waiting.add(zone);
    this.#start();
  }

  /** Its next message begins with the first pause again. */
  #forget(zone: string): Unanswered | undefined {
    const unanswered = this.#unanswered.get(zone);
    clearTimeout(unanswered?.timer);
    this.#unanswered.delete(zone);
    return unanswered;
  }
}

const notifyAbout = (zone: string): DnsRequest => ({
  opcode: opcodes.notify,
  authoritative: true,
  question: { name: zone, type: types.soa, class: classes.in },
});
