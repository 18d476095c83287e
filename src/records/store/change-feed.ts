import type { LoggedRow } from "../model.ts";
import type { AddedPlaces, ChangeListener } from "./port.ts";

/** Notifies listeners after a commit, with the new rows of the change log if they are known. */
export function createChangeFeed() {
  const listeners = new Set<ChangeListener>();

  return {
    announce: (rows?: readonly LoggedRow[], places?: AddedPlaces): void => {
      if (rows?.length !== 0) for (const listener of listeners) listener(rows, places);
    },
    listen: (listener: ChangeListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
