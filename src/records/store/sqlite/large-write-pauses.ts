/** Milliseconds that a large write may hold up other accounts without a pause after it. */
const free = 150;
/** So fewer than 1 % of other accounts' writes wait much longer than `free`, however often one account repeats its own. */
const factor = 100;
/** Also after a write that took very long because the machine was stopped meanwhile. */
const longest = 10 * 60_000;
/** An account counts as active for this long after a write. */
const active = 60_000;

/**
 * How long an account has to wait before its next large write. All other writes wait while one is written, so a long
 * one is followed by a pause for its account. There is none if only that account is writing.
 */
export function createLargeWritePauses(now: () => number = () => performance.now()) {
  const ends = new Map<number, number>();
  let newest = { account: 0, at: Number.NEGATIVE_INFINITY };
  /** The last write of an account other than the newest one's. */
  let other = newest;

  return {
    /** Call for every write. */
    wrote: (account: number): void => {
      if (account !== newest.account) other = newest;
      newest = { account, at: now() };
    },
    /** A large write of this account has held up all others for this many milliseconds. */
    heldUp: (account: number, time: number): void => {
      const { at } = account === newest.account ? other : newest;
      if (time > free && now() - at < active) ends.set(account, now() + Math.min(longest, factor * (time - free)));
    },
    /** Milliseconds until the account's next large write may begin. */
    left: (account: number): number => {
      const left = (ends.get(account) ?? 0) - now();
      if (left <= 0) ends.delete(account);
      return Math.max(0, left);
    },
  };
}
