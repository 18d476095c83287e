import { afterAwake } from "./after-awake.ts";
import type { SmallLog } from "./small-log.ts";

/** Something opened that must be closed: a server, a database, a watcher. */
export type Opened = { readonly name: string; readonly close: () => void | Promise<void> };

/** Closes in reverse order of opening, all of it within `limit` ms: what does not close in time is named and left behind. */
export async function closeInReverse(opened: readonly Opened[], log: SmallLog, limit = 4_000): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // Whoever waits for it then hears of it.
  late.catch(() => undefined);
  const callOff = afterAwake(limit, () => reject(new Error("took too long")), { ref: false });
  for (const each of opened.toReversed()) {
    try {
      await Promise.race([each.close(), late]);
    } catch (error) {
      log.error({ what: each.name, err: error }, "could not be closed");
    }
  }
  callOff();
}
