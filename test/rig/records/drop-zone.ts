import type { Instant } from "../../../src/core/instant.ts";
import type { ZoneKey } from "../../../src/records/model.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { actOn } from "../store/write.ts";

/** Deletes a zone with all its sets, without any checks. False if it does not exist. */
export async function dropZone(
  store: Pick<RecordStore, "run">,
  account: number,
  at: ZoneKey,
  now: Instant,
): Promise<boolean> {
  const request = { account, at, owners: "all", actor: "test", now } as const;
  return (await actOn(store, request, () => ({ wanted: undefined, remove: true, result: true }))) !== "no-zone";
}
