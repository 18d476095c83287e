import { createHmac } from "node:crypto";

/** How one actor sees numbers that are counted for all: positions in the change log, and actions. */
export type Veil = {
  readonly show: (number: number) => number;
  /** The other way round; what was never shown becomes some other number. */
  readonly read: (shown: number) => number;
};

export const noVeil: Veil = { show: (number) => number, read: (shown) => shown };

/**
 * A permutation of the numbers below 2^48 that nobody can follow without the secret: a gap between two numbers says nothing
 * about how much others did in between. A Feistel network, so that it can be reversed; another one for each holder.
 */
export function createVeil(secret: string, holder: string): Veil {
  const mixed = (round: number, half: number): number =>
    createHmac("sha256", secret).update(`${holder} ${round} ${half}`).digest().readUIntBE(0, 3);
  const through = (rounds: readonly number[], number: number): number => {
    if (number < 0 || number >= size) return number;
    let [left, right] = [Math.floor(number / half), number % half];
    for (const round of rounds) [left, right] = [right, left ^ mixed(round, right)];
    // The halves change places, so that the same walk with the rounds turned round leads back.
    return right * half + left;
  };
  return { show: (number) => through(rounds, number), read: (shown) => through(rounds.toReversed(), shown) };
}

const half = 2 ** 24;
const size = half * half;
const rounds = [1, 2, 3, 4, 5, 6];
