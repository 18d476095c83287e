/** What one transfer holds in memory. */
export type TransferMemory = {
  /** It holds this many bytes now. Throws when it has to end. */
  readonly hold: (bytes: number) => void;
  /** All of it is here and is being stored: ending the transfer would not free it any more. */
  readonly keep: () => void;
  readonly close: () => void;
};

/** The memory of all transfers together. */
export type SharedMemory = {
  /** `giveWay`: this transfer is to end, as there is no room for all. */
  readonly open: (account: number, giveWay: (because: string) => void) => TransferMemory;
};

/**
 * Transfers together hold at most `most` bytes, those of one account half of that. Where there is no room, the account that holds
 * the most loses its largest transfer: one whose primary servers send without end takes nothing from the others.
 */
export function createSharedMemory(most: number): SharedMemory {
  const held = new Set<Held>();
  const end = (loser: Held) => {
    held.delete(loser);
    loser.giveWay(noRoom);
  };
  const makeRoom = (one: Held) => {
    const own = () => [...held].filter(({ account }) => account === one.account);
    while (held.has(one) && sumOf(own()) > most / 2) end(largestOf(own()) ?? one);
    while (held.has(one) && sumOf(held) > most) end(largestOf(largestAccount(held)) ?? one);
  };

  return {
    open: (account, giveWay) => {
      const one: Held = { account, bytes: 0, kept: false, giveWay };
      held.add(one);
      return {
        hold: (bytes) => {
          one.bytes = bytes;
          one.kept = false;
          makeRoom(one);
          if (!held.has(one)) throw new Error(noRoom);
        },
        keep: () => {
          one.kept = true;
        },
        close: () => void held.delete(one),
      };
    },
  };
}

type Held = {
  readonly account: number;
  readonly giveWay: (because: string) => void;
  bytes: number;
  kept: boolean;
};

const noRoom = "transfers under way take too much memory together; this one is tried again later";

const sumOf = (held: Iterable<Held>): number => {
  let sum = 0;
  for (const { bytes } of held) sum += bytes;
  return sum;
};

const largestOf = (held: readonly Held[]): Held | undefined =>
  held.filter(({ kept }) => !kept).toSorted((a, b) => b.bytes - a.bytes)[0];

/** Of those that could give way. */
const largestAccount = (held: Iterable<Held>): readonly Held[] =>
  [...Map.groupBy(held, ({ account }) => account).values()]
    .filter((own) => own.some(({ kept }) => !kept))
    .toSorted((a, b) => sumOf(b) - sumOf(a))[0] ?? [];
