import { setTimeout as sleep } from "node:timers/promises";
import { backOffDelay, jittered } from "../../core/updates/back-off.ts";
import type { AddressSource, SourceReading } from "./source.ts";

export type Follower = {
  reading(reading: SourceReading): void;
  /** The stream has ended: until the next reading nothing is known. */
  lost(): void;
};

const backOff = { base: 250, cap: 30_000 };
/** A firewall without a stream may be given one by an upgrade. */
const lookAgain = 3_600_000;

/** A stream that ends sooner has failed, whatever it said: else one that ends after each snapshot is opened in a tight loop. */
const steady = 60_000;

export type FollowTools = {
  readonly random: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly clock?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** Keeps a stream open until the signal says stop. Never throws. */
export async function followSource(
  source: AddressSource,
  on: Follower,
  { random, clock = () => performance.now(), pause = sleepFor }: FollowTools,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const heard = (reading: SourceReading) => {
    // Doubtful data is no data; the poll that follows says what is wrong with it.
    if (reading.kind === "report") on.reading(reading);
    else on.lost();
  };
  while (!signal.aborted) {
    const opened = clock();
    const end = await source.follow(heard, signal);
    if (signal.aborted) return;
    on.lost();
    failures = clock() - opened < steady ? failures + 1 : 1;
    const delay =
      end.kind === "not-offered"
        ? jittered(lookAgain, random())
        : Math.max(end.retry ?? 0, backOffDelay(failures, 1, backOff) + backOffDelay(failures, random(), backOff));
    await pause(delay, signal);
  }
}

const sleepFor = (ms: number, signal: AbortSignal) =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
