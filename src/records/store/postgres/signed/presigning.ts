import { FairSchedule } from "../../../../lib/limits/fair-schedule.ts";
import type { Signer } from "../../../signing/signer.ts";
import { PresignNeeded } from "../../plan-signatures.ts";
import { type PresignStore, presign, runPresigned } from "../../presign.ts";
import type { Write } from "../queue.ts";

type PresigningOptions = {
  readonly store: PresignStore;
  readonly signer: Signer | undefined;
  readonly add: <T>(write: Write<T>) => Promise<T>;
};

/**
 * Adds writes to the queue. If the names of a large zone have to be signed first, that is done outside of the queue.
 */
export function createPresigning({ store, signer, add }: PresigningOptions) {
  // Each account signs one large zone at a time.
  const schedule = new FairSchedule({ mostWaiting: 100 });
  const closing = new AbortController();
  const { signal } = closing;
  const running = new Set<Promise<unknown>>();

  const signFirst = async <T>(write: Write<T>, { zone }: PresignNeeded): Promise<T> => {
    const release = await schedule.hold(zone.account, signal);
    try {
      return await runPresigned(
        signer && ((need, before) => presign({ store, signer, schedule, signal }, need, before)),
        // Alone: a batch uses presigned names for every write to the zone.
        (presigned) => add({ ...write, presigned, isLarge: true }),
      );
    } finally {
      release();
    }
  };

  return {
    add: async <T>(write: Write<T>): Promise<T> => {
      try {
        return await add(write);
      } catch (error) {
        if (!(error instanceof PresignNeeded)) throw error;
        const done = signFirst(write, error);
        running.add(done);
        return await done.finally(() => running.delete(done));
      }
    },
    /** Signing that has not ended is given up; what was written is deleted later. */
    close: async (): Promise<void> => {
      closing.abort(new Error("the store is closed"));
      await Promise.allSettled(running);
    },
  };
}
