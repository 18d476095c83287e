import type { Logger } from "./log.ts";
import { within } from "./within.ts";

/** Something opened that must be closed: a server, a database, a watcher. */
export type Opened = { readonly name: string; readonly close: () => void | Promise<void> };

/** Closes in reverse order of opening, all of it within `limit` ms: what does not close in time is logged and abandoned. */
export async function closeInReverse(opened: readonly Opened[], log: Logger, limit = 4_000): Promise<void> {
  const end = performance.now() + limit;
  for (const each of opened.toReversed()) {
    try {
      await within(Math.max(0, end - performance.now()), Promise.try(each.close), "took too long");
    } catch (error) {
      log.error({ what: each.name, err: error }, "a part of the service could not be closed");
    }
  }
}
