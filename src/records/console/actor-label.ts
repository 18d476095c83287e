/** Who wrote, as the history names a signed-in user of the console. */
export const labelOf = (account: string): string => `${account}${suffix}`;

export const isByHand = (label: string): boolean => label.endsWith(suffix);

const suffix = " (console)";

/** The number of the token that a label names. */
export function tokenIn(label: string): number | undefined {
  const id = /^token (\d+) \(/.exec(label)?.[1];
  return id === undefined ? undefined : Number(id);
}
