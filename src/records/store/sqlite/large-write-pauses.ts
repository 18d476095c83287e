/** Milliseconds that a large write may hold up other accounts without a pause after it. */
const free = 150;
/**
 * With this, fewer than 1 % of other accounts' writes wait much longer than `free`, however often one account repeats
 * large writes.
 */
const factor = 100;
/** The longest pause, however large the write was. */
const longest = 10 * 60_000;

/**
 * How long an account has to wait before its next large write. All other writes wait while one is written, so a long
 * one is followed by a pause for its account.
 */
export function createLargeWritePauses(now: () => number = () => performance.now()) {
  const ends = new Map<number, number>();

  return {
    /** A large write of this account has just ended; it took this many milliseconds of work, and others waited. */
    heldUp: (account: number, time: number): void => {
      if (time > free) ends.set(account, now() + Math.min(longest, factor * (time - free)));
    },
    /** Milliseconds until the account's next large write may begin. */
    left: (account: number): number => {
      const left = (ends.get(account) ?? 0) - now();
      if (left <= 0) ends.delete(account);
      return Math.max(0, left);
    },
  };
}
