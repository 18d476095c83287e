/**
 * What is known of the written names. Every write raises the number of its name by one, and every record of the set
 * contains that number. So any answer shows whether a set is torn or outdated.
 */
export type WrittenNames = {
  /** A new name for each call. */
  readonly next: (apiName: ApiName) => WrittenName;
  readonly all: () => readonly WrittenName[];
};

export type ApiName = "rrsets" | "v1";

export type WrittenName = {
  readonly apiName: ApiName;
  readonly zone: string;
  readonly owner: string;
  /** The number of the last answered write; 0 for none. */
  answered: number;
  /**
   * The number of a write with an unknown outcome. The name is not written again, because that write might still
   * happen.
   */
  doubtful: number | undefined;
};

export function createWrittenNames(zones: readonly string[]): WrittenNames {
  const names: WrittenName[] = [];
  return {
    next: (apiName) => {
      const zone = zones[names.length % zones.length] ?? "";
      const name: WrittenName = {
        apiName,
        zone,
        owner: `${apiName}-${names.length}`,
        answered: 0,
        doubtful: undefined,
      };
      names.push(name);
      return name;
    },
    all: () => names,
  };
}

/** Both halves of a set contain the number. */
export const addressesOf = (number: number): readonly [string, string] => {
  const low = `${(number >> 8) & 255}.${number & 255}`;
  return [`10.1.${low}`, `10.2.${low}`];
};

/** The number in a set; undefined if there is none, "torn" if its halves differ. */
export function numberIn(apiName: ApiName, addresses: readonly string[]): number | undefined | "torn" {
  if (addresses.length === 0) return undefined;
  const numbers = new Set(addresses.map((address) => address.split(".").slice(2).join(".")));
  const [only = ""] = numbers;
  const whole = addresses.length === (apiName === "rrsets" ? 2 : 1) && numbers.size === 1;
  const [high = 0, low = 0] = only.split(".").map(Number);
  return whole ? (high << 8) | low : "torn";
}

/** Whether this is a valid final state of a name. */
export function isRight({ answered, doubtful }: WrittenName, number: number | undefined | "torn"): boolean {
  return (number ?? 0) === answered || (doubtful !== undefined && number === doubtful);
}

/** Owner and number of the write that this set came from. */
export const writeOf = (owner: string, records: readonly { readonly value: string }[]): string =>
  `${owner} ${numberIn(
    owner.startsWith("rrsets") ? "rrsets" : "v1",
    records.map(({ value }) => value),
  )}`;
