import type { LoggedChange } from "../model.ts";
import type { ChangeListener } from "./port.ts";

/** Tells listeners, after a commit, what was added to the change log, or only that something was. */
export function createChangeFeed() {
  const listeners = new Set<ChangeListener>();

  return {
    announce: (rows?: readonly LoggedChange[]): void => {
      if (rows?.length !== 0) for (const listener of listeners) listener(rows);
    },
    listen: (listener: ChangeListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
