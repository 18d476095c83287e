import { randomUUID } from "node:crypto";
import type { Guess, SharedGuesses } from "../../../access/session-throttle.ts";
import type { Postgres } from "../../../process/postgres/open.ts";

/** The channel on which every node hears that somebody guessed a password wrongly. */
export const guessesChannel = "moor_guesses";

/** Wrong passwords count at every node. One that cannot be told while the database is away counts at this one alone. */
export function createPostgresGuesses({ read }: Pick<Postgres, "read">) {
  const node = randomUUID();
  const hearers: ((guess: Guess) => void)[] = [];
  const shared: SharedGuesses = {
    tell: ({ name, source }) => {
      const told = read({
        name: "tell guess",
        text: `SELECT pg_notify('${guessesChannel}', $1)`,
        values: [`${node} ${source} ${name.slice(0, 200)}`],
      });
      told.catch(() => undefined);
    },
    onHeard: (hear) => void hearers.push(hear),
  };
  return {
    shared,
    heard: (notice: string): void => {
      const [from, source = "", ...name] = notice.split(" ");
      // Our own were counted when they were made.
      if (from !== node) for (const hear of hearers) hear({ name: name.join(" "), source });
    },
  };
}
