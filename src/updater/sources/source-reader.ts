import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { backOffDelay, jittered } from "../../core/updates/back-off.ts";
import type { BackOffs } from "../../lib/limits/failure-delay.ts";
import type { AddressSource, FollowEnd, SourceReading } from "./source.ts";

export type ReaderTools = {
  readonly backOffs: BackOffs;
  readonly now: () => Instant;
  readonly random: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/**
 * A stream that ends sooner counts as failed. Otherwise one that ends after each snapshot would be reopened in a tight
 * loop.
 */
const steadyAfter = 60_000;

/** The latest reading of one source: polled, or pushed while its stream is open. */
export class SourceReader {
  readonly #name: string;
  readonly #source: AddressSource;
  readonly #tools: Required<ReaderTools>;
  #latest: SourceReading | undefined;
  #isPushing = false;
  /** The poll under way. */
  #poll: { readonly answered: Promise<void>; readonly obsolete: AbortController } | undefined;

  constructor(name: string, source: AddressSource, tools: ReaderTools) {
    this.#name = name;
    this.#source = source;
    this.#tools = { clock: () => performance.now(), pause: sleepFor, ...tools };
  }

  /** Undefined before its first answer. */
  latest(): SourceReading | undefined {
    return this.#latest;
  }

  isPushing(): boolean {
    return this.#isPushing;
  }

  /** When it may be polled again, after a failure or if it must not be polled often. */
  retryAt(): Instant | undefined {
    return this.#tools.backOffs.notBefore(this.#name, this.#tools.now());
  }

  /** Polls and waits for the answer, unless the source pushes, failed too recently, or must not be polled yet. */
  async read(signal: AbortSignal): Promise<void> {
    const retryAt = this.retryAt();
    if (this.#isPushing || (retryAt !== undefined && this.#tools.now() < retryAt)) return;
    if (!this.#poll) {
      const obsolete = new AbortController();
      this.#poll = { obsolete, answered: this.#ask(obsolete.signal, signal) };
    }
    const { answered, obsolete } = this.#poll;
    await answered;
    if (this.#poll?.answered === answered) this.#poll = undefined;
    if (obsolete.signal.aborted) await this.read(signal);
  }

  /** Keeps its stream open until the signal aborts. `onNews`: it pushed, or it stopped pushing and has to be polled. */
  async follow(onNews: () => void, signal: AbortSignal): Promise<void> {
    const { clock, pause, random } = this.#tools;
    let failures = 0;
    while (!signal.aborted) {
      const opened = clock();
      const end = await this.#source.follow((reading) => this.#pushed(reading, onNews), signal);
      if (signal.aborted) return;
      this.#stopPushing(onNews);
      failures = clock() - opened < steadyAfter ? failures + 1 : 1;
      await pause(delayAfter(end, failures, random), signal);
    }
  }

  close(): void {
    this.#source.close();
  }

  async #ask(obsolete: AbortSignal, signal: AbortSignal): Promise<void> {
    const reading = await this.#source.read(AbortSignal.any([obsolete, signal]));
    // After a push, the answer may be older than what was pushed.
    if (!obsolete.aborted) this.#note(reading);
  }

  #note(reading: SourceReading): void {
    const { backOffs, now } = this.#tools;
    const { every } = this.#source;
    this.#latest = reading;
    if (reading.kind === "unavailable") backOffs.failed(this.#name, now(), undefined, every);
    else if (every === undefined) backOffs.succeeded(this.#name);
    else backOffs.pauseFor(this.#name, now(), every);
  }

  #pushed(reading: SourceReading, onNews: () => void): void {
    // Unreadable data is ignored; the poll that follows reports what is wrong.
    if (reading.kind !== "report") return this.#stopPushing(onNews);
    this.#isPushing = true;
    this.#note(reading);
    this.#announce(onNews);
  }

  #stopPushing(onNews: () => void): void {
    if (!this.#isPushing) return;
    this.#isPushing = false;
    this.#announce(onNews);
  }

  /** Ends a poll under way: those who wait for it get what was pushed. Without a poll, the caller's loop is woken. */
  #announce(onNews: () => void): void {
    if (this.#poll) this.#poll.obsolete.abort();
    else onNews();
  }
}

const streamBackOff = { base: 250, cap: 30_000 };
/** An upgrade may add a stream to a firewall that has none. */
const offerMayComeAfter = 3_600_000;

function delayAfter(end: FollowEnd, failures: number, random: () => number): number {
  if (end.kind === "not-offered") return jittered(offerMayComeAfter, random());
  const delay = backOffDelay(failures, 1, streamBackOff) + backOffDelay(failures, random(), streamBackOff);
  return Math.max(end.retry ?? 0, delay);
}

const sleepFor = (ms: number, signal: AbortSignal) =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
