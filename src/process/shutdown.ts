import type { SmallLog } from "./small-log.ts";

/** Something opened that must be closed: a server, a database, a watcher. */
export type Opened = { readonly name: string; readonly close: () => void | Promise<void> };

/** Closes in reverse order of opening, all of it within `limit` ms: what does not close in time is named and left behind. */
export async function closeInReverse(opened: readonly Opened[], log: SmallLog, limit = 4_000): Promise<void> {
  const deadline = AbortSignal.timeout(limit);
  for (const each of opened.toReversed()) {
    try {
      await Promise.race([each.close(), rejectedBy(deadline)]);
    } catch (error) {
      log.error({ what: each.name, err: error }, "could not be closed");
    }
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(new Error("took too long", { cause: signal.reason }));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}
