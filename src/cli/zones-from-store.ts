import type { Change } from "../core/changes.ts";
import { apex } from "../core/name.ts";
import type { RRset } from "../core/rrset.ts";
import type { ZoneContent } from "../core/zone-view.ts";
import type { ZoneEvent, ZoneSource } from "../nameserver/zone-source.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedChange, RecordStore, Zone } from "../records/store.ts";

/** Where the record service and the nameserver meet: zones come out of the store, changes out of its log. */
export async function zonesFromStore(
  store: RecordStore,
  nameservers: readonly string[],
  log: Logger,
): Promise<ZoneSource> {
  const start = await store.lastChange();
  return {
    closest: async ([name]) => (name === undefined ? undefined : (await store.zoneHolding(name))?.name),
    load: async (name) => {
      const zone = await store.zoneHolding(name);
      return zone?.name === name ? contentOf(zone, await store.sets(zone, {}), nameservers) : undefined;
    },
    follow: (listener) => follow(store, start, listener, log),
  };
}

/** A zone cannot be served without name servers: one whose owner has named none gets those of the service. */
function contentOf(zone: Zone, sets: readonly RRset[], nameservers: readonly string[]): ZoneContent {
  const named = sets.some((set) => isApexNs(set));
  return {
    name: zone.name,
    ttl: zone.settings.ttl,
    serial: zone.serial,
    sets: named ? sets : [...sets, nsSet(zone, nameservers)],
  };
}

const isApexNs = ({ owner, type }: { readonly owner: string; readonly type: string }): boolean =>
  owner === apex && type === "NS";

function nsSet({ created }: Zone, nameservers: readonly string[]): RRset {
  const records = nameservers.map((name) => {
    const rdata = `${name}.`;
    return { id: "", name: apex, value: rdata, rdata, comment: "", created, modified: created };
  });
  return { owner: apex, type: "NS", ttl: null, records };
}

const mostAtOnce = 1_000;

/** Reads the log whenever it has grown. One reading at a time: what is added meanwhile is read by the next. */
function follow(store: RecordStore, start: number, listener: (event: ZoneEvent) => void, log: Logger): () => void {
  let position = start;
  let reading = false;
  let again = false;

  const read = async () => {
    for (;;) {
      again = false;
      const rows = await store.changesAfter(position, mostAtOnce);
      for (const event of eventsOf(rows)) listener(event);
      position = rows.at(-1)?.position ?? position;
      if (rows.length < mostAtOnce && !again) return;
    }
  };
  const wake = () => {
    again = true;
    if (reading) return;
    reading = true;
    read()
      .catch((error: unknown) => {
        log.error({ err: error }, "the change log could not be read; every zone is loaded again");
        listener({ kind: "lost" });
      })
      .finally(() => {
        reading = false;
      });
  };
  return store.onChange(wake);
}

/** All rows of one write stand together and share zone and serial. */
function eventsOf(rows: readonly LoggedChange[]): readonly ZoneEvent[] {
  const writes = Map.groupBy(rows, (row) => `${row.zone} ${row.serial}`);
  return [...writes.values()].flatMap((write) => {
    const [first] = write;
    return first === undefined ? [] : [eventOf(first, write)];
  });
}

function eventOf({ zoneName: zone, serial }: LoggedChange, write: readonly LoggedChange[]): ZoneEvent {
  const changes = write.map((row) => row.change);
  const ofSets = changes.filter((change): change is Change => change.kind !== "settings");
  const plain = ofSets.length === changes.length && !ofSets.some(isApexNs);
  return plain ? { kind: "changed", zone, serial, changes: ofSets } : { kind: "replaced", zone };
}
