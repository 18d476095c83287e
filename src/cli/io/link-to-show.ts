import type { CommandIo } from "./command-io.ts";

/**
 * A link that signs in, for the person in front of the terminal; undefined where what is printed may end in a log, and where none
 * can be made now. The service runs all the same: `moor sign-in` makes one later.
 */
export async function linkToShow(make: () => Promise<string>, io: CommandIo): Promise<string | undefined> {
  if (!io.isTerminal) return undefined;
  try {
    return await make();
  } catch (error) {
    io.err(`A sign-in link cannot be made now: ${(error as Error).message}\n`);
    return undefined;
  }
}
