/** Who wrote, as the history names a signed-in user of the console. */
export const labelOf = (account: string): string => `${account}${suffix}`;

export const isByHand = (label: string): boolean => label.endsWith(suffix);

const suffix = " (console)";
