/**
 * What is known of the names that were written. Every write gives its name a number one higher, and every record of its set
 * shows that number: so a set that is torn, or older than it may be, is seen in whatever answer it comes.
 */
export type WrittenNames = {
  /** A name of its own for each writer that asks. */
  readonly next: (face: Face) => WrittenName;
  readonly all: () => readonly WrittenName[];
};

export type Face = "rrsets" | "v1";

export type WrittenName = {
  readonly face: Face;
  readonly zone: string;
  readonly owner: string;
  /** The number of the last write that was answered; 0: none was. */
  answered: number;
  /** That of a write whose end is not known. The name is not written again after that: it might still happen. */
  doubtful: number | undefined;
};

export function createWrittenNames(zones: readonly string[]): WrittenNames {
  const names: WrittenName[] = [];
  return {
    next: (face) => {
      const zone = zones[names.length % zones.length] ?? "";
      const name: WrittenName = { face, zone, owner: `${face}-${names.length}`, answered: 0, doubtful: undefined };
      names.push(name);
      return name;
    },
    all: () => names,
  };
}

/** Both halves of a set say the number. */
export const addressesOf = (number: number): readonly [string, string] => {
  const low = `${(number >> 8) & 255}.${number & 255}`;
  return [`10.1.${low}`, `10.2.${low}`];
};

/** The number that a set shows; undefined when there is none, and "torn" when its halves differ. */
export function numberIn(face: Face, addresses: readonly string[]): number | undefined | "torn" {
  if (addresses.length === 0) return undefined;
  const numbers = new Set(addresses.map((address) => address.split(".").slice(2).join(".")));
  const [only = ""] = numbers;
  const whole = addresses.length === (face === "rrsets" ? 2 : 1) && numbers.size === 1;
  const [high = 0, low = 0] = only.split(".").map(Number);
  return whole ? (high << 8) | low : "torn";
}

/** Whether a name may show this in the end. */
export function isRight({ answered, doubtful }: WrittenName, number: number | undefined | "torn"): boolean {
  return (number ?? 0) === answered || (doubtful !== undefined && number === doubtful);
}

/** Owner and number of the write that such a set came from. */
export const writeOf = (owner: string, records: readonly { readonly value: string }[]): string =>
  `${owner} ${numberIn(
    owner.startsWith("rrsets") ? "rrsets" : "v1",
    records.map(({ value }) => value),
  )}`;
