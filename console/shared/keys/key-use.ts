/** A key, and what it does on this page. */
export type KeyUse = {
  /** As the browser names it: `/`, `n`, `?`. */
  readonly key: string;
  readonly does: string;
  /** Absent for keys that an element handles itself; they are only listed. */
  readonly run?: () => void;
};
