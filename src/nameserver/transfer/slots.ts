/** Where a zone queues: accounts take turns, and within an account its primary servers do. */
export type Place = { readonly account: number; readonly primary: string };

export type SlotLimits = {
  /** Zones that run at the same time: in total, per account, and per primary server of an account. */
  readonly all: number;
  readonly account: number;
  readonly primary: number;
};

export type Slots = {
  /** Queues a zone; `run` is called when it is its turn. A zone is in the queue at most once; one that is running can be queued for another turn. */
  readonly add: (zone: string, place: Place) => void;
  readonly close: () => Promise<void>;
};

/**
 * Decides who gets a slot next: the account, and within it the server, that has waited longest since its last turn. An account
 * with slow servers cannot fill all slots, nor can one slow server fill the slots of its account.
 */
export function createSlots(limits: SlotLimits, run: (zone: string, place: Place) => Promise<void>): Slots {
  const accounts = new Map<number, Account>();
  const running = new Map<string, Promise<void>>();
  let closed = false;

  /** The next zone of an account; its server goes to the end of the queue. */
  const nextOf = (account: Account): readonly [string, Server] | undefined => {
    if (account.running >= limits.account) return undefined;
    for (const [primary, server] of account.servers) {
      if (server.running >= limits.primary) continue;
      for (const zone of server.waiting) {
        if (running.has(zone)) continue;
        server.waiting.delete(zone);
        account.servers.delete(primary);
        account.servers.set(primary, server);
        return [zone, server];
      }
    }
    return undefined;
  };
  const startOne = (): boolean => {
    for (const [id, account] of accounts) {
      const next = nextOf(account);
      if (next === undefined) continue;
      accounts.delete(id);
      accounts.set(id, account);
      const [zone, server] = next;
      running.set(zone, runIn(zone, account, server));
      return true;
    }
    return false;
  };
  const pump = () => {
    while (!closed && running.size < limits.all && startOne());
  };
  const runIn = async (zone: string, account: Account, server: Server): Promise<void> => {
    account.running += 1;
    server.running += 1;
    try {
      await run(zone, server.place);
    } finally {
      account.running -= 1;
      server.running -= 1;
      running.delete(zone);
      drop(account, server);
      pump();
    }
  };
  /** Idle accounts and servers must not accumulate. */
  const drop = (account: Account, { place, running: busy, waiting }: Server) => {
    if (busy === 0 && waiting.size === 0) account.servers.delete(place.primary);
    if (account.running === 0 && account.servers.size === 0) accounts.delete(place.account);
  };

  return {
    add: (zone, place) => {
      const account = accounts.get(place.account) ?? { running: 0, servers: new Map() };
      accounts.set(place.account, account);
      const server = account.servers.get(place.primary) ?? { place, running: 0, waiting: new Set() };
      account.servers.set(place.primary, server);
      server.waiting.add(zone);
      pump();
    },
    close: async () => {
      closed = true;
      await Promise.all(running.values());
    },
  };
}

type Account = { running: number; readonly servers: Map<string, Server> };
type Server = { readonly place: Place; running: number; readonly waiting: Set<string> };
