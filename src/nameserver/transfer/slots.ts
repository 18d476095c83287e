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
export const createSlots = (limits: SlotLimits, run: RunZone): Slots => new FairSlots(limits, run);

type RunZone = (zone: string, place: Place) => Promise<void>;

class FairSlots implements Slots {
  readonly #limits: SlotLimits;
  readonly #run: RunZone;
  readonly #accounts = new Map<number, Account>();
  readonly #running = new Map<string, Promise<void>>();
  #closed = false;

  constructor(limits: SlotLimits, run: RunZone) {
    this.#limits = limits;
    this.#run = run;
  }

  readonly add = (zone: string, place: Place): void => {
    const account = this.#accounts.get(place.account) ?? { running: 0, servers: new Map() };
    this.#accounts.set(place.account, account);
    const server = account.servers.get(place.primary) ?? { place, running: 0, waiting: new Set() };
    account.servers.set(place.primary, server);
    server.waiting.add(zone);
    this.#startWaiting();
  };

  readonly close = async (): Promise<void> => {
    this.#closed = true;
    await Promise.all(this.#running.values());
  };

  #startWaiting(): void {
    while (!this.#closed && this.#running.size < this.#limits.all && this.#startOne());
  }

  #startOne(): boolean {
    for (const [id, account] of this.#accounts) {
      const next = this.#nextOf(account);
      if (next === undefined) continue;
      this.#accounts.delete(id);
      this.#accounts.set(id, account);
      const [zone, server] = next;
      this.#running.set(zone, this.#runIn(zone, account, server));
      return true;
    }
    return false;
  }

  /** The next zone of an account; its server goes to the end of the queue. */
  #nextOf(account: Account): readonly [string, Server] | undefined {
    if (account.running >= this.#limits.account) return undefined;
    for (const [primary, server] of account.servers) {
      if (server.running >= this.#limits.primary) continue;
      for (const zone of server.waiting) {
        if (this.#running.has(zone)) continue;
        server.waiting.delete(zone);
        account.servers.delete(primary);
        account.servers.set(primary, server);
        return [zone, server];
      }
    }
    return undefined;
  }

  async #runIn(zone: string, account: Account, server: Server): Promise<void> {
    account.running += 1;
    server.running += 1;
    try {
      await this.#run(zone, server.place);
    } finally {
      account.running -= 1;
      server.running -= 1;
      this.#running.delete(zone);
      this.#drop(account, server);
      this.#startWaiting();
    }
  }

  /** Idle accounts and servers must not accumulate. */
  #drop(account: Account, { place, running, waiting }: Server): void {
    if (running === 0 && waiting.size === 0) account.servers.delete(place.primary);
    if (account.running === 0 && account.servers.size === 0) this.#accounts.delete(place.account);
  }
}

type Account = { running: number; readonly servers: Map<string, Server> };
type Server = { readonly place: Place; running: number; readonly waiting: Set<string> };
