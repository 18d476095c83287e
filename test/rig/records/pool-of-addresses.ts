import type { RRset, ZoneRecord } from "../../../src/core/records/rrset.ts";
import { plainSettings, type Zone } from "../../../src/records/model.ts";
import type { RecordStore, WriteRequest } from "../../../src/records/store/port.ts";
import { createZoneIn, writeTo } from "../store/write.ts";

const at = Date.UTC(2026, 10, 15, 12);
const firstSerial = 2026111500;

/** One set that many writers add to: a lost or duplicate write shows in its records and its serial. */
export async function makePool(store: Pick<RecordStore, "ensureAccount" | "run">, name = "pool.example") {
  const account = (await store.ensureAccount("main", at)).id;
  const identity = { account, id: `id-${name}`, name, settings: plainSettings(600), created: at };
  const zone = await createZoneIn(store, { ...identity, serial: firstSerial, sets: [] }, "tester");
  if (typeof zone === "string") throw new Error(zone);
  return poolOf(zone);
}

export function poolOf(zone: Zone) {
  const request: WriteRequest = {
    account: zone.account,
    at: { zone: zone.id },
    owners: () => ["pool"],
    actor: "tester",
    now: at,
  };
  const add = (store: Pick<RecordStore, "run">, value: string) =>
    writeTo(store, request, ({ sets }) => ({
      wanted: [{ ...emptySet, records: [...(sets[0]?.records ?? []), aRecord(value)] }],
      result: value,
    }));
  /** Its values, the number of writes, and the rows of the log. */
  const look = async (store: Pick<RecordStore, "changesAfter" | "sets" | "zone">) => {
    const [now, [set], log] = await Promise.all([
      store.zone(zone.account, zone.id),
      store.sets(zone, { owner: "pool" }),
      store.changesAfter(0, 100_000),
    ]);
    const values = set?.records.map((record) => record.value) ?? [];
    return { values, writes: (now?.serial ?? 0) - firstSerial, positions: log.map((row) => row.position) };
  };
  return { zone, request, add, look };
}

const emptySet: RRset = { owner: "pool", type: "A", ttl: null, records: [] };

const aRecord = (value: string): ZoneRecord => ({
  id: `pool-${value}`,
  name: "pool",
  value,
  rdata: value,
  comment: "",
  created: at,
  modified: at,
});
