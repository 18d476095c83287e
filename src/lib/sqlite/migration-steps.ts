/**
 * One step of a schema. Forwards only: a released step is never edited, a change is a new step at the end.
 *
 * `oldest`: how many steps a program must know to use a database that has this one. By default, all steps up to this
 * one, so that older programs refuse to run. A step that older programs can ignore may set a lower number: then two
 * versions work side by side while nodes are upgraded one after another.
 */
export type MigrationStep = string | { readonly sql: string; readonly oldest: number };

/** The schema version of a database: how many steps it has taken, and how many a program must know to use it. */
export type SchemaState = { readonly taken: number; readonly oldest: number };

/** The steps still to run: none for a newer database that this program can use, `too-new` for one that it cannot. */
export function stepsFor(
  knownSteps: readonly MigrationStep[],
  { taken, oldest }: SchemaState,
): readonly string[] | "too-new" {
  if (taken > knownSteps.length) return oldest <= knownSteps.length ? [] : "too-new";
  return knownSteps.slice(taken).map((step) => (typeof step === "string" ? step : step.sql));
}

/** The schema version after all steps have run. */
export function stateAfter(knownSteps: readonly MigrationStep[], { oldest }: SchemaState): SchemaState {
  const oldests = knownSteps.map((step, i) => (typeof step === "string" ? i + 1 : step.oldest));
  return { taken: knownSteps.length, oldest: Math.max(oldest, ...oldests) };
}

/** A database that cannot be used; the message says what to do. */
export class DatabaseTrouble extends Error {}

export const tooNew = (
  database: string,
  knownSteps: readonly MigrationStep[],
  { taken }: SchemaState,
): DatabaseTrouble =>
  new DatabaseTrouble(
    `the database ${database} was written by a newer moor (schema ${taken}; this one supports up to ${knownSteps.length}); ` +
      "start the newer version instead.",
  );
