/** A map that forgets: what was not asked for while `limit` others came in is gone. Never more than twice that many. */
export type KeptMap<T> = {
  readonly get: (key: string) => T | undefined;
  readonly set: (key: string, value: T) => void;
  readonly delete: (key: string) => void;
  readonly clear: () => void;
};

/** Two generations: when the young one is full it becomes the old one, and what is found in the old one moves back. */
export function createKeptMap<T>(limit: number): KeptMap<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  const set = (key: string, value: T) => {
    young.set(key, value);
    if (young.size < limit) return;
    old = young;
    young = new Map();
  };
  return {
    get: (key) => {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    delete: (key) => {
      young.delete(key);
      old.delete(key);
    },
    clear: () => {
      young = new Map();
      old = new Map();
    },
  };
}
