/** The memory of one transfer. */
export type TransferMemory = {
  /** It holds this many bytes now. False when the transfer has to end. */
  readonly hold: (bytes: number) => boolean;
  /** The transfer is complete and is being stored: ending it would not free its memory. */
  readonly keep: () => void;
  readonly close: () => void;
};

/**
 * All transfers together hold at most `most` bytes, those of one account at most half of that. When there is no room,
 * the account that holds the most loses its newest transfer: primaries that never stop sending cannot harm other
 * accounts. The oldest transfer is spared, so that large zones arrive one after another instead of never.
 */
export function createSharedMemory(most: number) {
  const reservations = new Set<Reservation>();
  const end = (loser: Reservation) => {
    reservations.delete(loser);
    loser.giveWay();
  };
  const makeRoom = (one: Reservation) => {
    const sumOfAccount = (of: Reservation) => sumOf([...reservations].filter(({ account }) => account === of.account));
    const mayEnd = () => [...reservations].filter(({ kept }) => !kept).slice(1);
    while (reservations.has(one) && sumOfAccount(one) > most / 2) {
      end(mayEnd().findLast(({ account }) => account === one.account) ?? one);
    }
    while (reservations.has(one) && sumOf(reservations) > most) {
      const newestFirst = mayEnd().toReversed();
      end(newestFirst.toSorted((a, b) => sumOfAccount(b) - sumOfAccount(a))[0] ?? one);
    }
  };

  return {
    /** `giveWay` is called when this transfer has to end to make room for others. */
    open: (account: number, giveWay: () => void): TransferMemory => {
      const one: Reservation = { account, bytes: 0, kept: false, giveWay };
      reservations.add(one);
      return {
        hold: (bytes) => {
          one.bytes = bytes;
          one.kept = false;
          makeRoom(one);
          return reservations.has(one);
        },
        keep: () => {
          one.kept = true;
        },
        close: () => void reservations.delete(one),
      };
    },
  };
}

type Reservation = {
  readonly account: number;
  readonly giveWay: () => void;
  bytes: number;
  kept: boolean;
};

export const noRoom = "the running transfers use too much memory; this one will be retried later";

const sumOf = (reservations: Iterable<Reservation>): number => {
  let sum = 0;
  for (const { bytes } of reservations) sum += bytes;
  return sum;
};
