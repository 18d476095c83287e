import { readFileSync } from "node:fs";
import { networksAround } from "../../core/addresses/peer-address.ts";
import type { Logger } from "../../process/log.ts";

export type ConnectionLimits = {
  readonly all: number;
  /** Per IPv4 address, or IPv6 /64 or /56. An IPv6 /48 may have twice as many. */
  readonly source: number;
};

/** A connection that has a place. */
export type ConnectionPermit = {
  /** While this returns true, the connection keeps its place. */
  isBusy: () => boolean;
  /** It has finished a request. */
  readonly used: () => void;
  readonly leave: () => void;
};

/** Connections counted together, in the order in which they give way. */
type Group = {
  count: number;
  /** Without a finished request so far, not even a handshake perhaps. */
  readonly unproven: Set<Connection>;
  /** Each with its number of requests when it came last; it comes last again if there are more by its turn. */
  readonly proven: Map<Connection, number>;
};

type Connection = {
  readonly groups: readonly Group[];
  readonly close: () => void;
  readonly permit: ConnectionPermit;
  /** Finished ones. */
  requests: number;
  left: boolean;
};

/** So many of all places are for those without a finished request: newcomers need the time to finish one. */
const partOfUnproven = 1 / 4;

/** The place of the /48 in `networksAround`. */
const widest = 2;

const newGroup = (): Group => ({ count: 0, unproven: new Set(), proven: new Map() });

/**
 * The rule of all listeners: an idle connection costs its client nothing, so nobody may lock others out with them.
 * Where there is no room, a new connection takes the place of another: the oldest of those without a finished request
 * if there are many of these, otherwise one that was idle since the last look at it. If its network has used up its
 * share, it is one of that network. A request only adds one to a number; the order is looked after when there is no
 * room.
 */
export class ConnectionLimit {
  readonly #limits: ConnectionLimits;
  readonly #all = newGroup();
  readonly #networks = new Map<string, Group>();
  readonly #warnings: ReturnType<typeof createWarnings>;

  constructor(limits: ConnectionLimits, log?: Pick<Logger, "warn">) {
    this.#limits = limits;
    this.#warnings = createWarnings(limits, log);
  }

  /**
   * Undefined when there is no room. `close` is called when another connection gets the place. `isShared`: its
   * connections are those of many clients, so it has no share.
   */
  enter(from: string, close: () => void, isShared = false): ConnectionPermit | undefined {
    const { all, source } = this.#limits;
    const names = isShared ? [] : networksAround(from);
    for (const [i, name] of names.entries())
      if (!this.#makeRoom(this.#networks.get(name), i === widest ? 2 * source : source, from)) return undefined;
    if (!this.#makeRoom(this.#all, all, from)) return undefined;
    const groups = [this.#all, ...names.map((name) => this.#groupOf(name))];
    const connection: Connection = {
      groups,
      close,
      requests: 0,
      left: false,
      permit: {
        isBusy: () => false,
        used: () => use(connection),
        leave: () => this.#leave(connection, names),
      },
    };
    for (const group of groups) {
      group.count += 1;
      group.unproven.add(connection);
    }
    return connection.permit;
  }

  #groupOf(name: string): Group {
    const group = this.#networks.get(name) ?? newGroup();
    this.#networks.set(name, group);
    return group;
  }

  #makeRoom(group: Group | undefined, most: number, from: string): boolean {
    if (group === undefined || group.count < most) return true;
    const isCrowded = group.unproven.size > most * partOfUnproven;
    const first = isCrowded ? firstIdle(group.unproven) : firstIdleProven(group.proven);
    const next = first ?? firstIdle(group.unproven) ?? firstIdleProven(group.proven);
    this.#warnings[group === this.#all ? "all" : "network"](from);
    next?.permit.leave();
    next?.close();
    return next !== undefined;
  }

  #leave(connection: Connection, names: readonly string[]): void {
    if (connection.left) return;
    connection.left = true;
    for (const group of connection.groups) {
      group.count -= 1;
      group.unproven.delete(connection);
      group.proven.delete(connection);
    }
    for (const name of names) if (this.#networks.get(name)?.count === 0) this.#networks.delete(name);
  }
}

/** Those that are busy come last again: they have been idle for no time. */
function firstIdle(connections: Set<Connection>): Connection | undefined {
  let left = connections.size;
  for (const connection of connections) {
    if (!connection.permit.isBusy()) return connection;
    if (left-- === 0) return undefined;
    connections.delete(connection);
    connections.add(connection);
  }
  return undefined;
}

/** The same, and those with requests since they came last come last again. */
function firstIdleProven(connections: Map<Connection, number>): Connection | undefined {
  let left = 2 * connections.size;
  for (const [connection, requests] of connections) {
    if (requests === connection.requests && !connection.permit.isBusy()) return connection;
    if (left-- === 0) return undefined;
    connections.delete(connection);
    connections.set(connection, connection.requests);
  }
  return undefined;
}

function use(connection: Connection): void {
  connection.requests += 1;
  if (connection.left || connection.requests > 1) return;
  for (const { unproven, proven } of connection.groups) {
    unproven.delete(connection);
    proven.set(connection, 1);
  }
}

/** Each once per minute, whatever is passed: a flood of connections comes quickly. */
function createWarnings({ all: most }: ConnectionLimits, log: Pick<Logger, "warn"> | undefined) {
  const tooMany =
    "too many connections are open, so one that is idle is closed for each new one; " +
    "raise the limit of open files (LimitNOFILE in systemd) if they are legitimate";
  const ofOne =
    "one client has too many connections open, so its idle ones are closed for new ones; " +
    "if it is a proxy in front of the APIs, name it with --trust-proxy";
  return {
    all: eachMinute(() => log?.warn({ most }, tooMany)),
    network: eachMinute((client) => log?.warn({ client }, ofOne)),
  };
}

function eachMinute(warn: (client: string) => void): (client: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (client) => {
    if (performance.now() - warnedAt < 60_000) return;
    warnedAt = performance.now();
    warn(client);
  };
}

/**
 * One `part`-th of the files that this process may open, and no more than `atMost`. HTTP uses half, DNS over TCP a
 * quarter, transfers from primary servers an eighth; the rest is for the database, the log and everything else.
 */
export const partOfFiles = (part: number, atMost: number): number =>
  Math.min(atMost, Math.ceil((mostOpenFiles() ?? Number.POSITIVE_INFINITY) / part));

/** Undefined if there is no limit, or it is not known. */
function mostOpenFiles(): number | undefined {
  try {
    const [, most] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}
