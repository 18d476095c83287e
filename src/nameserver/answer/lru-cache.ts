/**
 * A cache: an entry is kept at least until `limit` others have been added or used since its last use. Holds at most
 * twice `limit`.
 */
export type LruCache<T, Key = string> = {
  readonly get: (key: Key) => T | undefined;
  readonly set: (key: Key, value: T) => void;
  readonly delete: (key: Key) => void;
  readonly clear: () => void;
};

/** Two generations: a full young one replaces the old one, and an entry found in the old one moves to the young one. */
export function createLruCache<T, Key = string>(limit: number): LruCache<T, Key> {
  let young = new Map<Key, T>();
  let old = new Map<Key, T>();
  const set = (key: Key, value: T) => {
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
