import type { ZoneEvent } from "./zone-source.ts";

/** Holds questions back while something is written that was not told yet: the first answer after a write must show it. */
export type CatchUp = {
  readonly hear: (event: ZoneEvent) => void;
  /** Undefined when there is nothing to wait for; rejects when it takes too long. */
  readonly wait: () => Promise<void> | undefined;
};

export function createCatchUp(limit: number): CatchUp {
  let behind = false;
  let end: (() => void) | undefined;
  let waiting: Promise<void> | undefined;
  const begin = () =>
    new Promise<void>((resolve, reject) => {
      const late = new Error(`what was written was not told within ${limit} ms`);
      const timer = setTimeout(() => reject(late), limit);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    hear: ({ kind }) => {
      if (kind === "coming") behind = true;
      if (kind !== "caught-up") return;
      behind = false;
      end?.();
      waiting = undefined;
    },
    wait: () => {
      if (!behind) return undefined;
      waiting ??= begin();
      return waiting;
    },
  };
}
