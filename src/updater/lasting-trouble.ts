import type { Notice, Tell } from "./reporter.ts";

export type LastingTrouble = {
  readonly tell: Tell;
  /** What has not been told by now never is. */
  forget(isGone: (key: string) => boolean): void;
  close(): void;
};

/**
 * For those whom a notice calls: a failure is told when it has lasted for `patience` ms. Of one that is over by then, as when a
 * service is restarted, nobody has to get up.
 */
export function onlyLasting(tell: Tell, patience: number): LastingTrouble {
  const waiting = new Map<string, { latest: Notice; readonly timer: NodeJS.Timeout }>();
  const told = new Set<string>();

  const failing = (notice: Notice) => {
    const { key } = notice;
    if (told.has(key)) return tell(notice);
    const before = waiting.get(key);
    if (before) {
      before.latest = notice;
      return;
    }
    const timer = setTimeout(() => {
      const lasted = waiting.get(key);
      waiting.delete(key);
      told.add(key);
      if (lasted) tell(lasted.latest);
    }, patience);
    waiting.set(key, { latest: notice, timer: timer.unref() });
  };
  const over = (notice: Notice) => {
    clearTimeout(waiting.get(notice.key)?.timer);
    waiting.delete(notice.key);
    if (told.delete(notice.key)) tell(notice);
  };

  const forget: LastingTrouble["forget"] = (isGone) => {
    for (const [key, { timer }] of waiting) {
      if (!isGone(key)) continue;
      clearTimeout(timer);
      waiting.delete(key);
    }
  };

  return {
    forget,
    tell(notice) {
      if (notice.kind === "failing") failing(notice);
      else if (notice.kind === "over") over(notice);
      else tell(notice);
    },
    close: () => forget(() => true),
  };
}
