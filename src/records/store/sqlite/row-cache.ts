import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { RecordInZone, Zone, ZoneKey } from "../../model.ts";
import { atZoneSerial } from "../rows.ts";
import type { Reads } from "./read.ts";

type CachedRecord = Omit<RecordInZone, "zone"> & { readonly zone: string };

/** Per kind; one entry takes about a kilobyte. At the limit all entries are dropped: the busy ones are soon back. */
const mostKept = 10_000;

/**
 * A cache of rows that were recently read or written. It is valid until another connection commits. A write must
 * report what it wrote, and clear the cache if it is rolled back.
 */
export class RowCache {
  readonly #read: RowReads;
  readonly #readSignedName: (zone: Zone, owner: string) => SignedName | undefined;
  readonly #zones = new Map<string, Zone>();
  /** Ids of zones by number and by name. */
  readonly #zoneIds = new Map<number | string, string>();
  readonly #records = new Map<string, CachedRecord>();
  readonly #owners = new Map<string, readonly RRset[]>();
  readonly #names = new Map<string, SignedName>();

  constructor(read: RowReads, readSignedName: (zone: Zone, owner: string) => SignedName | undefined) {
    this.#read = read;
    this.#readSignedName = readSignedName;
  }

  zone(id: string): Zone | undefined {
    const cached = this.#zones.get(id);
    if (cached !== undefined) return cached;
    const storedZone = this.#read.zone(id);
    if (storedZone !== undefined) this.keepZone(storedZone);
    return storedZone;
  }

  zoneBy(key: ZoneKey): Zone | undefined {
    const id = this.#zoneIds.get("name" in key ? key.name : key.number);
    if (id !== undefined) return this.zone(id);
    const storedZone = this.#read.zoneBy(key);
    if (storedZone !== undefined) this.keepZone(storedZone);
    return storedZone;
  }

  record(id: string): RecordInZone | undefined {
    const cached = this.#records.get(id);
    const home = cached && this.zone(cached.zone);
    if (cached !== undefined && home !== undefined) return { ...cached, zone: home };
    const storedRecord = this.#read.record(id);
    if (storedRecord === undefined) return undefined;
    this.keepZone(storedRecord.zone);
    this.#keepRecord(storedRecord);
    return storedRecord;
  }

  /** The set that contains a record. */
  place(id: string): { readonly zone: string; readonly owner: string } | undefined {
    return this.#records.get(id) ?? this.#read.place(id);
  }

  setsAt(zone: Zone, owner: string): readonly RRset[] {
    const key = ownerKey(zone, owner);
    const cached = this.#owners.get(key);
    if (cached !== undefined) return cached.map((set) => atZoneSerial(set, zone));
    const storedSets = this.#read.sets(zone, { owner });
    keep(this.#owners, key, storedSets);
    return storedSets;
  }

  /** Every write to a signed zone needs its apex. */
  signedName(at: Zone, owner: string): SignedName | undefined {
    const key = nameKey(at, owner);
    const signedName = this.#names.get(key) ?? this.#readSignedName(at, owner);
    if (signedName !== undefined) keep(this.#names, key, signedName);
    return signedName;
  }

  /** A zone that was read or written. */
  keepZone(zone: Zone): void {
    if (this.#zones.size >= mostKept) {
      this.#zones.clear();
      this.#zoneIds.clear();
    }
    this.#zones.set(zone.id, zone);
    this.#zoneIds.set(zone.number, zone.id).set(zone.name, zone.id);
  }

  /** All sets of an owner; an empty list if it has none. */
  wroteSets(at: Zone, owner: string, sets: readonly RRset[]): void {
    keep(this.#owners, ownerKey(at, owner), sets);
    for (const { type, ttl, records: inSet } of sets)
      for (const record of inSet) this.#keepRecord({ zone: at, owner, type, ttl, record });
  }

  wroteNames(at: Zone, changes: readonly NameChange[]): void {
    for (const { before, after } of changes) {
      if (after !== undefined) keep(this.#names, nameKey(at, after.owner), after);
      else if (before !== undefined) this.#names.delete(nameKey(at, before.owner));
    }
  }

  /** Call before adding the new sets: a record may move from one set to another. */
  removedRecord(id: string): void {
    this.#records.delete(id);
  }

  readonly forget = (): void => {
    this.#zones.clear();
    this.#zoneIds.clear();
    this.#records.clear();
    this.#owners.clear();
    this.#names.clear();
  };

  // The SOA changes with every write to its zone.
  #keepRecord({ zone: { id }, owner, type, ttl, record }: RecordInZone): void {
    if (type !== "SOA") keep(this.#records, record.id, { zone: id, owner, type, ttl, record });
  }
}

type RowReads = Pick<Reads, "zone" | "zoneBy" | "record" | "place" | "sets">;

const ownerKey = (zone: Zone, owner: string): string => `${zone.number} ${owner}`;

const nameKey = ({ signedNamesNumber }: Zone, owner: string): string => `${signedNamesNumber} ${owner}`;

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, value);
}
