import { setAt, type ViewSet, type ZoneView } from "../../core/records/zone-view.ts";
import { finish } from "../../core/steps.ts";
import { headerLength } from "../../lib/dns/codes.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { type PackOptions, packRecords } from "./pack.ts";
import { snapshotSteps, type ZoneSnapshot } from "./records.ts";

type Packed = {
  /** Identifies the version of the zone: every change replaces the SOA set. */
  readonly soa: ViewSet;
  readonly room: number;
  readonly tail: number;
  readonly messages: readonly Buffer[];
  readonly size: number;
};

/** The snapshot of a larger zone, in sets, is taken in parts. */
const largeZone = 1_000;

/** How often a zone may change while its snapshot is taken in parts, before it is taken without a pause. */
const tries = 3;

/**
 * A cache of whole zones as messages, so that a second secondary costs next to nothing. `most`: bytes of all zones
 * together; the oldest are dropped first. A zone that takes more than a quarter is not cached.
 */
export class CachedTransfers {
  readonly #schedule: Pick<FairSchedule, "run">;
  readonly #most: number;
  readonly #kept = new Map<string, Packed>();
  /** Those being taken: clients that ask meanwhile, even repeatedly, share the work. */
  readonly #snapshots = new Map<ZoneView, Promise<ZoneSnapshot>>();
  #size = 0;

  constructor(schedule: Pick<FairSchedule, "run">, most = 16 * 1024 * 1024) {
    this.#schedule = schedule;
    this.#most = most;
  }

  /** All messages are of one version of the zone, which is fixed when this resolves. Each is packed when it is read. */
  readonly messages = async (view: ZoneView, options: PackOptions): Promise<Iterable<Buffer>> => {
    const soa = setAt(view.apex, "SOA");
    const packed = this.#kept.get(view.name);
    const same = packed?.soa === soa && packed?.room === options.room && packed.tail === options.tail.length;
    if (packed && same) return withHeads(packed.messages, options.head);
    const snapshot = await this.#snapshotOnce(view);
    return this.#packing(view.name, snapshot.soa, packRecords(snapshot.records, options), options);
  };

  /** Bytes in the cache. */
  readonly size = (): number => {
    return this.#size;
  };

  #drop(zone: string): void {
    this.#size -= this.#kept.get(zone)?.size ?? 0;
    this.#kept.delete(zone);
  }

  #keep(zone: string, packed: Packed): void {
    if (packed.soa.gone) return;
    this.#drop(zone);
    this.#kept.set(zone, packed);
    this.#size += packed.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#most) return;
      this.#drop(oldest);
    }
  }

  *#packing(zone: string, soa: ViewSet | undefined, pages: Iterable<Buffer>, options: PackOptions) {
    const messages: Buffer[] = [];
    let size = 0;
    for (const message of pages) {
      size += message.length;
      if (size <= this.#most / 4) messages.push(message);
      yield message;
    }
    if (soa === undefined || size > this.#most / 4) return;
    this.#keep(zone, { soa, room: options.room, tail: options.tail.length, messages, size });
  }

  #snapshotOnce(view: ZoneView): Promise<ZoneSnapshot> {
    const running = this.#snapshots.get(view);
    if (running) return running;
    const result = this.#takeSnapshot(view).finally(() => this.#snapshots.delete(view));
    this.#snapshots.set(view, result);
    return result;
  }

  async #takeSnapshot(view: ZoneView): Promise<ZoneSnapshot> {
    for (let left = view.size > largeZone ? tries : 0; left > 0; left--) {
      const snapshot = await this.#schedule.run(0, snapshotSteps(view));
      if (snapshot) return snapshot;
    }
    const snapshot = finish(snapshotSteps(view));
    if (snapshot === undefined) throw new Error(`the zone ${view.name} changed while it was prepared for transfer`);
    return snapshot;
  }
}

function* withHeads(messages: readonly Buffer[], head: Buffer): Generator<Buffer> {
  for (const message of messages) yield withHead(message, head);
}

/** The counts stay; id, flags and question are those of the request. */
function withHead(message: Buffer, head: Buffer): Buffer {
  const copy = Buffer.from(message);
  head.copy(copy, 0, 0, 4);
  head.copy(copy, headerLength, headerLength);
  return copy;
}
