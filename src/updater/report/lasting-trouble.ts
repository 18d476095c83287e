import { afterAwake } from "../../process/after-awake.ts";
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
  const waiting = new Map<string, { latest: Notice; readonly callOff: () => void }>();
  const told = new Set<string>();

  const failing = (notice: Notice) => {
    const { key } = notice;
    if (told.has(key)) return tell(notice);
    const before = waiting.get(key);
    if (before) {
      before.latest = notice;
      return;
    }
    const tellLasting = () => {
      const lasted = waiting.get(key);
      waiting.delete(key);
      told.add(key);
      if (lasted) tell(lasted.latest);
    };
    waiting.set(key, { latest: notice, callOff: afterAwake(patience, tellLasting, { ref: false }) });
  };
  const over = (notice: Notice) => {
    waiting.get(notice.key)?.callOff();
    waiting.delete(notice.key);
    if (told.delete(notice.key)) tell(notice);
  };

  const forget: LastingTrouble["forget"] = (isGone) => {
    for (const [key, { callOff }] of waiting) {
      if (!isGone(key)) continue;
      callOff();
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
