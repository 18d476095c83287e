import type { CommandIo } from "../io/command-io.ts";

/** If a signal stops the verb, prints what is left behind. */
export async function orStopped(left: string, io: CommandIo, verb: () => Promise<number>): Promise<number> {
  try {
    return await verb();
  } catch (error) {
    if (!(error instanceof Error) || error !== io.signal.reason) throw error;
    io.err(`moor: ${error.message}. ${left}\n`);
    return 1;
  }
}
