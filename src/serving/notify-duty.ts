import { isNews, type ZoneSource } from "../nameserver/answer/zone-source.ts";
import { createNotifier, type NotifierOptions } from "../nameserver/transfer/notify-out.ts";
import type { EndWork } from "../process/duties.ts";
import type { RecordStore } from "../records/store/port.ts";
import { isSoa } from "./catalog.ts";

export type NotifyDuty = {
  readonly store: RecordStore;
  readonly zones: Pick<ZoneSource, "follow">;
  readonly catalog: string | undefined;
  readonly notifier: NotifierOptions;
};

/**
 * Notifies other nameservers of every change, starting with recent ones that the previous leader may not have reported.
 */
export function notifySecondaries({ store, zones, catalog, notifier: options }: NotifyDuty): EndWork {
  const notifier = createNotifier(options);
  const unfollow = zones.follow((event) => {
    if (!isNews(event) || event.kind === "lost" || event.kind === "late") return;
    // Secondaries see in the catalog that a zone was deleted.
    const isGone = event.kind === "changed" && event.changes.some((each) => isSoa(each) && each.kind === "delete");
    if (isGone) notifier.deleted(event.zone);
    else notifier.changed(event.zone);
  });
  recentlyChanged(store, catalog)
    .then((recent) => {
      for (const zone of recent) notifier.changed(zone);
    })
    .catch((error: unknown) =>
      options.log.error(
        { err: error },
        "the latest changes could not be read, so other nameservers are not notified of them",
      ),
    );
  return async () => {
    unfollow();
    await notifier.close();
  };
}

const recentRows = 1_000;

/** Which changes were reported before the last stop is not known, so all recent ones are reported again. */
async function recentlyChanged(store: RecordStore, catalog: string | undefined): Promise<ReadonlySet<string>> {
  const rows = await store.logAfter(Math.max(0, (await store.lastChange()) - recentRows), recentRows);
  return new Set([...(catalog === undefined ? [] : [catalog]), ...rows.map((row) => row.zoneName)]);
}
