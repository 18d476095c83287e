import { setAt, type ViewSet, type ZoneView } from "../../core/records/zone-view.ts";
import { finish } from "../../core/steps.ts";
import { headerLength } from "../../process/dns/codes.ts";
import type { Turns } from "../../process/turns.ts";
import { type PackOptions, packRecords } from "./pack.ts";
import { type SettledZone, settleSteps } from "./records.ts";

/** A cache of whole zones as messages, so that a second secondary costs next to nothing. */
export type PackedZones = {
  /** All messages are of one version of the zone, which is fixed when this resolves. Each is packed when it is read. */
  readonly messages: (view: ZoneView, options: PackOptions) => Promise<Iterable<Buffer>>;
  /** Bytes in the cache. */
  readonly size: () => number;
};

type Packed = {
  /** Identifies the version of the zone: every change replaces the SOA set. */
  readonly soa: ViewSet;
  readonly room: number;
  readonly tail: number;
  readonly messages: readonly Buffer[];
  readonly size: number;
};

/** The sets of a larger zone are collected in parts. */
const largeZone = 1_000;

/** How often a zone may change while its sets are collected in parts, before they are collected without a pause. */
const tries = 3;

/** `most`: bytes of all zones together; the oldest are dropped first. A zone that takes more than a quarter is not cached. */
export function createPackedZones(turns: Pick<Turns, "run">, most = 16 * 1024 * 1024): PackedZones {
  const kept = new Map<string, Packed>();
  /** Clients that ask for a zone meanwhile, even repeatedly, share the work. */
  const settling = new Map<ZoneView, Promise<SettledZone>>();
  let held = 0;

  const drop = (zone: string) => {
    held -= kept.get(zone)?.size ?? 0;
    kept.delete(zone);
  };
  const keep = (zone: string, packed: Packed) => {
    if (packed.soa.gone) return;
    drop(zone);
    kept.set(zone, packed);
    held += packed.size;
    for (const oldest of kept.keys()) {
      if (held <= most) return;
      drop(oldest);
    }
  };

  const packing = function* (zone: string, soa: ViewSet | undefined, pages: Iterable<Buffer>, options: PackOptions) {
    const messages: Buffer[] = [];
    let size = 0;
    for (const message of pages) {
      size += message.length;
      if (size <= most / 4) messages.push(message);
      yield message;
    }
    if (soa === undefined || size > most / 4) return;
    keep(zone, { soa, room: options.room, tail: options.tail.length, messages, size });
  };

  const settleOnce = (view: ZoneView): Promise<SettledZone> => {
    const underway = settling.get(view);
    if (underway) return underway;
    const result = settle(view).finally(() => settling.delete(view));
    settling.set(view, result);
    return result;
  };
  const settle = async (view: ZoneView): Promise<SettledZone> => {
    for (let left = view.size > largeZone ? tries : 0; left > 0; left--) {
      const settled = await turns.run(0, settleSteps(view));
      if (settled) return settled;
    }
    const settled = finish(settleSteps(view));
    if (settled === undefined) throw new Error(`the zone ${view.name} changed while it was prepared for transfer`);
    return settled;
  };

  return {
    messages: async (view, options) => {
      const soa = setAt(view.apex, "SOA");
      const packed = kept.get(view.name);
      const same = packed?.soa === soa && packed?.room === options.room && packed.tail === options.tail.length;
      if (packed && same) return withHeads(packed.messages, options.head);
      const settled = await settleOnce(view);
      return packing(view.name, settled.soa, packRecords(settled.records, options), options);
    },
    size: () => held,
  };
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
