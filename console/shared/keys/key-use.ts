/** Properties of a button or field that a key activates; the key is shown when the pointer rests on it. */
export const withKey = (key: string) => ({ "aria-keyshortcuts": key, title: `Shortcut: ${key}` });

/** A key, and what it does on this page. */
export type KeyUse = {
  /** As the browser names it: `/`, `n`, `?`. */
  readonly key: string;
  readonly does: string;
  /** Absent for keys that an element handles itself; they are only listed. */
  readonly run?: () => void;
};
