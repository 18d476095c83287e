import { setTimeout as sleep } from "node:timers/promises";
import { backOffDelay, jittered } from "../../core/updates/back-off.ts";
import type { AddressSource, SourceReading } from "./source.ts";

export type Follower = {
  reading(reading: SourceReading): void;
  /** The stream has ended: until the next reading nothing is known. */
  lost(): void;
};

const backOff = { base: 500, cap: 60_000 };
const shortest = 250;
/** A firewall without a stream may be given one by an upgrade. */
const lookAgain = 3_600_000;

/** Keeps a stream open until the signal says stop. Never throws. */
export async function followSource(
  source: AddressSource,
  on: Follower,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const heard = (reading: SourceReading) => {
    failures = 0;
    // Doubtful data is no data; the poll that follows says what is wrong with it.
    if (reading.kind === "report") on.reading(reading);
    else on.lost();
  };
  while (!signal.aborted) {
    const end = await source.follow(heard, signal);
    if (signal.aborted) return;
    on.lost();
    failures += 1;
    const delay =
      end.kind === "not-offered"
        ? jittered(lookAgain, random())
        : Math.max(shortest, end.retry ?? 0, backOffDelay(failures, random(), backOff));
    await sleep(delay, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
