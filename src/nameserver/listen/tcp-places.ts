import { householdOf } from "../../core/addresses/peer-address.ts";

/** Limits TCP connections, on all listening addresses together. */
export type TcpPlaces = {
  /** Undefined when there is no room. `close` is called when another connection gets the place. */
  readonly enter: (from: string, close: () => void) => TcpPlace | undefined;
};

export type TcpPlace = {
  /** It has sent a query: all others have been idle for longer. */
  readonly asked: () => void;
  /** A connection that is busy with a zone transfer keeps its place. */
  readonly busy: (isBusy: boolean) => void;
  readonly leave: () => void;
};

export type PlaceLimits = {
  readonly all: number;
  /** Per IPv4 address or IPv6 /64. */
  readonly source: number;
};

/** When it is full, a new connection replaces the one idle longest; when its source has used up its share, the one idle longest from that source. */
export function createTcpPlaces(limits: PlaceLimits): TcpPlaces {
  let count = 0;
  const sources = new Map<string, Source>();
  /** In the order of their last queries. */
  const idle = new Set<Held>();

  const setIdle = (held: Held, isIdle: boolean) => {
    for (const list of [idle, held.source.idle]) {
      list.delete(held);
      if (isIdle) list.add(held);
    }
  };
  const leave = (held: Held) => {
    if (held.left) return;
    held.left = true;
    setIdle(held, false);
    count -= 1;
    held.source.count -= 1;
    if (held.source.count === 0) sources.delete(held.source.name);
  };
  const makeRoomIn = (list: ReadonlySet<Held>): boolean => {
    const [longestIdle] = list;
    if (longestIdle === undefined) return false;
    leave(longestIdle);
    longestIdle.close();
    return true;
  };

  return {
    enter: (from, close) => {
      const name = householdOf(from);
      const known = sources.get(name);
      if (known && known.count >= limits.source && !makeRoomIn(known.idle)) return undefined;
      if (count >= limits.all && !makeRoomIn(idle)) return undefined;
      const source = sources.get(name) ?? { name, count: 0, idle: new Set() };
      sources.set(name, source);
      const held: Held = { source, close, left: false };
      count += 1;
      source.count += 1;
      setIdle(held, true);
      return {
        asked: () => {
          if (idle.has(held)) setIdle(held, true);
        },
        busy: (isBusy) => {
          if (!held.left) setIdle(held, !isBusy);
        },
        leave: () => leave(held),
      };
    },
  };
}

type Source = { readonly name: string; count: number; readonly idle: Set<Held> };
type Held = { readonly source: Source; readonly close: () => void; left: boolean };
