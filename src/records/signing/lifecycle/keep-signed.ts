import { type EndWork, runPeriodically } from "../../../process/duties.ts";
import { renewSignatures } from "./renew-signatures.ts";
import { type VisitOptions, ZoneVisits } from "./visit-zones.ts";

export type KeepSignedOptions = VisitOptions & {
  /** Milliseconds between two rounds. */
  readonly every?: number;
};

const minute = 60_000;

/**
 * Renews signatures before they expire, and moves each zone from stage to stage. Only the leading node does this. The
 * two do not wait for each other, because a visit waits for servers of others.
 */
export function keepSigned(options: KeepSignedOptions): EndWork {
  const { log, every = minute } = options;
  const visits = new ZoneVisits(options);
  const ends = [
    runPeriodically(
      (signal) => renewSignatures(options, signal),
      every,
      (error) => log.error({ err: error }, "signatures could not be renewed; trying again"),
    ),
    runPeriodically(
      (signal) => visits.begin(signal),
      every,
      (error) => log.error({ err: error }, "signed zones could not be maintained; trying again"),
    ),
  ];
  return async () => {
    await Promise.all(ends.map((end) => end()));
    await visits.ended();
  };
}

/** One round of both, for those who set the clock themselves. */
export function createSigningRound(options: KeepSignedOptions): (signal: AbortSignal) => Promise<void> {
  const visits = new ZoneVisits(options);
  return async (signal) => {
    await renewSignatures(options, signal);
    await visits.begin(signal);
    await visits.ended();
  };
}
