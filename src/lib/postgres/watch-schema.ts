import type { Logger } from "../../process/log.ts";
import { StoreBusy } from "../limits/store-busy.ts";
import {
  type DatabaseTrouble,
  type MigrationStep,
  type SchemaState,
  stepsFor,
  tooNew,
} from "../sqlite/migration-steps.ts";
import { schemaStatement } from "./migrate.ts";
import type { Postgres } from "./open.ts";

export type WatchedSchema = {
  /** Once the schema is known to be too new, `transact` refuses to write and `look` fails. */
  readonly postgres: Postgres;
  /** Call this when the schema may have changed. */
  readonly look: () => void;
  /** Resolves when the schema has become too new for this program. */
  readonly outgrown: Promise<DatabaseTrouble>;
};

export type WatchOptions = {
  readonly steps: readonly MigrationStep[];
  /** The address of the database, without secrets. */
  readonly shown: string;
  readonly log: Logger;
};

/** A newer program may migrate the database while this one uses it, to a schema that this one cannot use. */
export function watchSchema(postgres: Postgres, { steps, shown, log }: WatchOptions): WatchedSchema {
  const outgrown = Promise.withResolvers<DatabaseTrouble>();
  let trouble: DatabaseTrouble | undefined;

  const look = async (): Promise<void> => {
    const [state] = (await postgres.read({ text: schemaStatement })).rows as SchemaState[];
    if (state === undefined || trouble !== undefined || stepsFor(steps, state) !== "too-new") return;
    trouble = tooNew(shown, steps, state);
    log.error(
      { schema: state.taken, known: steps.length },
      "a newer moor has upgraded the database; this node no longer writes to it",
    );
    outgrown.resolve(trouble);
  };
  const refuse = (): never => {
    throw new StoreBusy("this node is too old for its database", { cause: trouble, retryAfter: 10, isLogged: true });
  };
  return {
    postgres: {
      ...postgres,
      transact: async (work) => (trouble === undefined ? await postgres.transact(work) : refuse()),
      look: async (statement) => {
        if (trouble !== undefined) throw trouble;
        return await postgres.look(statement);
      },
    },
    // A failed check is repeated soon; outages of the database are reported elsewhere.
    look: () => void look().catch(() => undefined),
    outgrown: outgrown.promise,
  };
}
