/** A holder of a limited number of seats: a token, a session, an account, a network. */
export type Holder = { readonly name: string; readonly most: number };

export type Seat =
  | { readonly kind: "seat"; readonly leave: () => void }
  /** `holder`: whose limit is reached; absent if it is the limit for all holders together. */
  | { readonly kind: "full"; readonly holder?: Holder };

/** Limits how many streams are open, or queries wait, at the same time. One holder cannot use up the seats of all others. */
export function createSeats(most: number) {
  const held = new Map<string, number>();
  let open = 0;
  const count = (name: string, step: 1 | -1): void => {
    const next = (held.get(name) ?? 0) + step;
    if (next === 0) held.delete(name);
    else held.set(name, next);
  };
  const refusal = (holders: readonly Holder[]): Seat | undefined => {
    const holder = holders.find((each) => (held.get(each.name) ?? 0) >= each.most);
    if (holder !== undefined) return { kind: "full", holder };
    return open >= most ? { kind: "full" } : undefined;
  };
  return {
    open: (): number => open,
    isFreeFor: (holders: readonly Holder[]): boolean => refusal(holders) === undefined,
    take: (holders: readonly Holder[]): Seat => {
      const refused = refusal(holders);
      if (refused !== undefined) return refused;
      open += 1;
      for (const { name } of holders) count(name, 1);
      let taken = true;
      const leave = () => {
        if (!taken) return;
        taken = false;
        open -= 1;
        for (const { name } of holders) count(name, -1);
      };
      return { kind: "seat", leave };
    },
  };
}
