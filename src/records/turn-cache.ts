import type { DatabaseSync } from "node:sqlite";

/**
 * Keeps what was looked up for the rest of this turn of the event loop, and for later turns as long as no other process
 * has committed to the database: what was changed elsewhere is so seen with the next turn, without a query a request.
 */
export function createTurnCache<T>(database: DatabaseSync, look: (key: string) => T | undefined) {
  // https://sqlite.org/pragma.html#pragma_data_version: moves with commits of other connections, not with our own.
  const version = database.prepare("PRAGMA data_version");
  version.setReturnArrays(true);
  const versionNow = () => (version.get() as unknown as readonly [number])[0];
  const known = new Map<string, T>();
  let seen = versionNow();
  let checked = false;

  const check = () => {
    checked = true;
    setImmediate(() => {
      checked = false;
    });
    const now = versionNow();
    if (now !== seen) known.clear();
    seen = now;
  };

  return {
    get: (key: string): T | undefined => {
      if (!checked) check();
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const found = look(key);
      // Wrong keys are not kept: anyone can make up as many as memory holds.
      if (found !== undefined) {
        if (known.size >= mostKept) known.clear();
        known.set(key, found);
      }
      return found;
    },
    /** To be called by whoever writes through this connection. */
    clear: () => known.clear(),
  };
}

const mostKept = 10_000;
