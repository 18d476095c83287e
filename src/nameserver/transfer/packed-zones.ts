import { setAt, type ViewSet, type ZoneView } from "../../core/records/zone-view.ts";
import { headerLength } from "../wire/codes.ts";
import { type PackOptions, packRecords } from "./pack.ts";
import { wholeZone } from "./records.ts";

/** Whole zones as messages, kept so that the second of a zone's secondaries costs next to nothing. */
export type PackedZones = {
  /** What is in them is settled when this is called. */
  readonly messages: (view: ZoneView, options: PackOptions) => Iterable<Buffer>;
  /** Bytes held. */
  readonly size: () => number;
};

type Packed = {
  /** Every change renews it, so that it stands for all of the zone. */
  readonly soa: ViewSet;
  readonly room: number;
  readonly tail: number;
  readonly messages: readonly Buffer[];
  readonly size: number;
};

/** `most`: bytes of all together; what was packed first leaves first. A zone that takes more than a quarter is not kept. */
export function createPackedZones(most = 16 * 1024 * 1024): PackedZones {
  const kept = new Map<string, Packed>();
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

  return {
    messages: (view, options) => {
      const soa = setAt(view.apex, "SOA");
      const packed = kept.get(view.name);
      const same = packed?.soa === soa && packed?.room === options.room && packed.tail === options.tail.length;
      if (packed && same) return packed.messages.map((message) => withHead(message, options.head));
      return packing(view.name, soa, packRecords(wholeZone(view), options), options);
    },
    size: () => held,
  };
}

/** The counts are the message's own; id, flags and question are those of the request. */
function withHead(message: Buffer, head: Buffer): Buffer {
  const copy = Buffer.from(message);
  head.copy(copy, 0, 0, 4);
  head.copy(copy, headerLength, headerLength);
  return copy;
}
