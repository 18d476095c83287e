import { randomUUID } from "node:crypto";
import type { Guess, SharedGuesses } from "../../../access/session-throttle.ts";
import type { Postgres } from "../../../lib/postgres/open.ts";

/** The channel that notifies every node of wrong passwords. */
export const guessesChannel = "moor_guesses";

/** Wrong passwords count at every node. While the database is down, they count only at this node. */
export function createPostgresGuesses({ read }: Pick<Postgres, "read">) {
  const node = randomUUID();
  const hearers: ((guess: Guess) => void)[] = [];
  const shared: SharedGuesses = {
    tell: ({ name, source }) => {
      const notified = read({
        name: "tell guess",
        text: `SELECT pg_notify('${guessesChannel}', $1)`,
        values: [`${node} ${source} ${name.slice(0, 200)}`],
      });
      notified.catch(() => undefined);
    },
    onHeard: (hear) => void hearers.push(hear),
  };
  return {
    shared,
    heard: (notice: string): void => {
      const [from, source = "", ...name] = notice.split(" ");
      // Our own were already counted.
      if (from !== node) for (const hear of hearers) hear({ name: name.join(" "), source });
    },
  };
}
