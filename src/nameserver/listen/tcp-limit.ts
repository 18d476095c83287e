import { householdOf } from "../../core/addresses/peer-address.ts";
import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";

export type TcpPermit = {
  /** It has sent a query: all others have been idle for longer. */
  readonly queried: () => void;
  /** A connection that is busy with a zone transfer keeps its place. */
  readonly busy: (isBusy: boolean) => void;
  readonly leave: () => void;
};

export type ConnectionLimits = {
  readonly all: number;
  /** Per IPv4 address or IPv6 /64. */
  readonly source: number;
};

/**
 * Limits TCP connections, on all listening addresses together. When it is full, a new connection replaces the one idle
 * longest; when its source has used up its share, the one idle longest from that source.
 */
export class TcpLimit {
  readonly #permits: KeyedSemaphore;
  readonly #mostOfSource: number;
  /** In the order of their last queries. */
  readonly #idle = new Set<Connection>();
  readonly #idleFrom = new Map<string, Set<Connection>>();

  constructor(limits: ConnectionLimits) {
    this.#permits = new KeyedSemaphore(limits.all);
    this.#mostOfSource = limits.source;
  }

  /** Undefined when there is no room. `close` is called when another connection gets the place. */
  enter(from: string, close: () => void): TcpPermit | undefined {
    const source = householdOf(from);
    const release = this.#permitFor(source);
    if (release === undefined) return undefined;
    const connection: Connection = { source, close, release, left: false };
    this.#setIdle(connection, true);
    return {
      queried: () => {
        if (this.#idle.has(connection)) for (const list of this.#listsOf(connection)) moveToEnd(list, connection);
      },
      busy: (isBusy) => {
        if (!connection.left) this.#setIdle(connection, !isBusy);
      },
      leave: () => this.#leave(connection),
    };
  }

  #permitFor(source: string): (() => void) | undefined {
    const holders = [{ name: source, most: this.#mostOfSource }];
    for (;;) {
      const permit = this.#permits.tryAcquire(holders);
      if (permit.kind === "permit") return permit.release;
      const [longestIdle] = permit.holder ? (this.#idleFrom.get(source) ?? []) : this.#idle;
      if (longestIdle === undefined) return undefined;
      this.#leave(longestIdle);
      longestIdle.close();
    }
  }

  #setIdle(connection: Connection, isIdle: boolean): void {
    const [all, fromSource] = this.#listsOf(connection);
    for (const list of [all, fromSource]) {
      if (isIdle) moveToEnd(list, connection);
      else list.delete(connection);
    }
    if (fromSource.size === 0) this.#idleFrom.delete(connection.source);
    else this.#idleFrom.set(connection.source, fromSource);
  }

  #listsOf({ source }: Connection): readonly [Set<Connection>, Set<Connection>] {
    return [this.#idle, this.#idleFrom.get(source) ?? new Set()];
  }

  #leave(connection: Connection): void {
    if (connection.left) return;
    connection.left = true;
    this.#setIdle(connection, false);
    connection.release();
  }
}

function moveToEnd(list: Set<Connection>, connection: Connection): void {
  list.delete(connection);
  list.add(connection);
}

type Connection = {
  readonly source: string;
  readonly close: () => void;
  readonly release: () => void;
  left: boolean;
};
