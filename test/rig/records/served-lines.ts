import type { ServedSet } from "../../../src/core/records/zone-view.ts";
import type { Zone } from "../../../src/records/model.ts";
import { readServedZone } from "../../../src/records/queries/read-zone.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";

/** What DNS would serve of a zone if it read it now: the addresses of these owners, and the serial after `since`. */
export async function servedLines(
  store: RecordStore,
  zone: Zone,
  since: number,
  owners: readonly string[],
): Promise<string> {
  let sets: ServedSet[] = [];
  await readServedZone(
    store,
    zone,
    async () => undefined,
    () => {
      sets = [];
      return (part) => void sets.push(...part);
    },
  );
  const last = (owner: string, type: string) => sets.findLast((set) => set.owner === owner && set.type === type);
  const serial = Number(last("@", "SOA")?.records[0]?.rdata.split(" ")[2]) - since;
  return [...owners.map((owner) => last(owner, "A")?.records[0]?.rdata ?? "none"), serial].join();
}
