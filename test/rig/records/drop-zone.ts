import type { Instant } from "../../../src/core/instant.ts";
import type { ZoneKey } from "../../../src/records/model.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";

/** For tests: the zone goes with all that is in it, whoever might mind. False when there is none. */
export async function dropZone(
  store: Pick<RecordStore, "act">,
  account: number,
  at: ZoneKey,
  now: Instant,
): Promise<boolean> {
  const request = { account, at, owners: "all", actor: "test", now } as const;
  return (await store.act(request, () => ({ wanted: undefined, remove: true, result: true }))) !== "no-zone";
}
