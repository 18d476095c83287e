import type { LoggedRow } from "../model.ts";
import type { ChangeListener } from "./port.ts";

/** Notifies listeners after a commit, with the new rows of the change log if they are known. */
export function createChangeFeed() {
  const listeners = new Set<ChangeListener>();

  return {
    announce: (rows?: readonly LoggedRow[]): void => {
      if (rows?.length !== 0) for (const listener of listeners) listener(rows);
    },
    listen: (listener: ChangeListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
