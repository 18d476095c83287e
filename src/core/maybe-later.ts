/** Most requests wait for nothing, and a promise for each step would cost as much as the steps. */
export type MaybeLater<T> = T | Promise<T>;

/** Calls `use` immediately if the value is there. */
export const whenKnown = <T, U>(value: MaybeLater<T>, use: (value: T) => MaybeLater<U>): MaybeLater<U> =>
  value instanceof Promise ? value.then(use) : use(value);
