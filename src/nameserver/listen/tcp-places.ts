import { householdOf } from "../../core/addresses/peer-address.ts";

/** Room for TCP connections, on all addresses that the nameserver listens on. */
export type TcpPlaces = {
  /** Undefined when there is no room. `close` is called when another connection gets the place. */
  readonly enter: (from: string, close: () => void) => TcpPlace | undefined;
};

export type TcpPlace = {
  /** It has asked something: all others are idle for longer. */
  readonly asked: () => void;
  /** A connection that is busy with a zone transfer keeps its place. */
  readonly busy: (isBusy: boolean) => void;
  readonly leave: () => void;
};

export type PlaceLimits = {
  readonly all: number;
  /** Of one IPv4 address or IPv6 /64. */
  readonly source: number;
};

/** A new connection takes the place of the one that is idle longest, from the same source where that has its share already. */
export function createTcpPlaces(limits: PlaceLimits): TcpPlaces {
  let count = 0;
  const sources = new Map<string, Source>();
  /** In the order in which they last asked something. */
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
