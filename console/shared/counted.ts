/** "1 record", "1,204 records". */
export const counted = (count: number, one: string): string =>
  `${count.toLocaleString("en-GB")} ${one}${count === 1 ? "" : "s"}`;
