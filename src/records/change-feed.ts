/** Tells listeners, after a commit, that the change log has grown. They read the log themselves. */
export function createChangeFeed() {
  const listeners = new Set<() => void>();
  let grown = false;

  return {
    /** Said inside a transaction; `announce` passes it on when that is committed. */
    note: (changed: boolean): void => {
      grown = changed;
    },
    announce: (): void => {
      if (!grown) return;
      grown = false;
      for (const listener of listeners) listener();
    },
    listen: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
