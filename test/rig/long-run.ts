/**
 * True in `npm run test:faults`, which runs every row of the long tables. `npm test` runs a few representative rows of
 * tables whose cases are all checked by faster tests too, within one process.
 */
export const isLongRun = process.env.MOOR_LONG === "1";

/** All rows in a long run, otherwise those with these names. */
export const rowsOf = <Row extends readonly [string, ...unknown[]]>(
  rows: readonly Row[],
  ...names: readonly string[]
): readonly Row[] => {
  const missing = names.filter((name) => !rows.some(([each]) => each === name));
  if (missing.length > 0) throw new Error(`no such row: ${missing.join(", ")}`);
  return isLongRun ? rows : rows.filter(([name]) => names.includes(name));
};

/** All rows in a long run, otherwise the first `count`. */
export const firstOf = <Row>(rows: readonly Row[], count = 1): readonly Row[] =>
  isLongRun ? rows : rows.slice(0, count);

/** How often a law is tried with generated input: ten times as often in a long run. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: isLongRun ? 10 * count : count });
