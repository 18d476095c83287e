import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import pg from "pg";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../../process/log.ts";
import { within } from "../../process/within.ts";
import { StoreBusy } from "../limits/store-busy.ts";
import { PostgresClient, type ServerCheck } from "./client.ts";
import { createCommitMarks } from "./commit-marks.ts";
import { faultOf, inabilityOf, noneFree, type PostgresFault } from "./faults.ts";
import { logOutages, type Outages } from "./outages.ts";
import { Silence } from "./silence.ts";
import { type Committed, type Ending, type Rows, type Statement, toQuery } from "./statement.ts";
import { type Connections, inSnapshot, resultOf } from "./transaction.ts";
import type { PostgresAddress } from "./url.ts";

/**
 * A pool of connections to one database. Everything it waits for has a limit; what it cannot do now throws `StoreBusy`.
 */
export type Postgres = {
  /**
   * One read-only statement; it is repeated if the connection is lost. `since`: the caller has waited since then, by
   * `performance.now()`.
   */
  readonly read: (statement: Statement, since?: number) => Promise<Rows>;
  /**
   * `work` must be repeatable: it is run again when another transaction was in the way or the connection was lost
   * before the commit. It takes effect once. If this rejects, nothing was written, unless a `StoreBusy` says that this
   * is not known.
   */
  readonly transact: <T>(
    work: (run: (statement: Statement) => Promise<Rows>) => Promise<Ending<T>>,
    /** As in `read`. */
    since?: number,
  ) => Promise<Committed<T>>;
  /** Several statements that see the same moment. `work` is repeated as for `read`. */
  readonly snapshot: <T>(work: (run: (statement: Statement) => Promise<Rows>) => Promise<T>) => Promise<T>;
  /** Like `read`, for a caller that waits for a status: retried for half a second only. */
  readonly queryBriefly: (statement: Statement) => Promise<Rows>;
  /** A separate connection, outside the pool. */
  readonly connect: () => Promise<pg.Client>;
  readonly connections: () => ConnectionCount;
  /** Waits for work under way, but not for long. */
  readonly close: () => Promise<void>;
};

/** The connections of the pool now. `waiting`: requests that wait for one. */
export type ConnectionCount = { readonly used: number; readonly idle: number; readonly waiting: number };

export type PostgresLimits = {
  readonly connections: number;
  /** How many requests may wait for a connection; more are refused immediately. */
  readonly waiting: number;
  /** Milliseconds, from here on. To connect, or to get a connection from the pool. */
  readonly connect: number;
  readonly statement: number;
  readonly lock: number;
  readonly commit: number;
  /** How long work is retried while the database cannot be reached. */
  readonly patience: number;
};

/** If the database cannot be reached, callers learn it within five seconds. */
export const usualLimits: PostgresLimits = {
  connections: 10,
  waiting: 1_000,
  connect: 4_000,
  statement: 10_000,
  lock: 4_000,
  commit: 3_000,
  patience: 3_500,
};

const mostRepeats = 10;
const queryPatience = 500;
/** Milliseconds for a connection to become free, or to be made, however long the caller has waited before. */
const leastWait = 500;
const closePatience = 1_000;
const farewellPatience = 500;

export const openPostgres = (address: PostgresAddress, log: Logger, limits: PostgresLimits = usualLimits): Postgres =>
  new PostgresPool(address, log, limits);

class PostgresPool implements Postgres {
  readonly #limits: PostgresLimits;
  readonly #config: ClientConfig;
  readonly #open = new Set<pg.Client>();
  readonly #silence = new Silence({ onSilence: () => this.#breakOff() });
  readonly #hosts: PostgresHosts;
  readonly #pool: pg.Pool;
  readonly #outages: Outages;
  readonly #mark = createCommitMarks();
  readonly #underWay = new Set<Promise<unknown>>();
  #isEnded = false;

  constructor(address: PostgresAddress, log: Logger, limits: PostgresLimits) {
    this.#limits = limits;
    this.#config = clientConfig(limits);
    this.#hosts = new PostgresHosts(address, (client) => this.#silence.watch(client));
    this.#pool = this.#createPool();
    this.#outages = logOutages(log, address.shown);
    this.#pool.on("error", this.#outages.failed);
    this.#pool.on("connect", this.#outages.connected);
  }

  readonly read: Postgres["read"] = (statement, since) => this.#ask(statement, this.#limits.patience, since);

  readonly queryBriefly: Postgres["queryBriefly"] = (statement) => this.#ask(statement, queryPatience);

  readonly transact: Postgres["transact"] = (work, since) => {
    const { patience } = this.#limits;
    const ways = (end: number): Connections => ({
      withClient: (use) => this.#withClient(end, use),
      limit: patience / 4,
      commitLimit: this.#limits.commit,
      mark: this.#mark,
    });
    return this.#insist((end) => resultOf(work, ways(end)), patience, since);
  };

  readonly snapshot: Postgres["snapshot"] = (work) =>
    this.#insist((end) => this.#withClient(end, (client) => inSnapshot(client, work)), this.#limits.patience);

  readonly connect = (): Promise<pg.Client> => this.#hosts.connect(this.#config);

  readonly connections = (): ConnectionCount => {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { used: totalCount - idle, idle, waiting };
  };

  readonly close = async (): Promise<void> => {
    // After its end, the pool forgets callers that still wait for a connection.
    await Promise.race([Promise.allSettled(this.#underWay), sleep(closePatience, undefined, { ref: false })]);
    this.#isEnded = true;
    const ending = this.#pool.end();
    await Promise.race([ending, sleep(farewellPatience, undefined, { ref: false })]);
    this.#silence.close();
    // A server that hangs does not close its side.
    this.#breakOff();
    await ending;
  };

  #createPool(): pg.Pool {
    const [config, hosts, open] = [this.#config, this.#hosts, this.#open];
    return new pg.Pool({
      ...config,
      Client: class extends PostgresClient {
        constructor() {
          super(...hosts.next(config));
          open.add(this);
          this.once("end", () => open.delete(this));
        }
      },
      max: this.#limits.connections,
      idleTimeoutMillis: 60_000,
    });
  }

  #breakOff(): void {
    for (const client of this.#open) client.connection.stream.destroy();
  }

  #ask(statement: Statement, patience: number, since?: number): Promise<Rows> {
    const ask = (client: pg.PoolClient) => client.query(toQuery(statement));
    return this.#insist((end) => this.#withClient(end, ask), patience, since);
  }

  async #withClient<T>(end: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#isEnded) throw new Error("the database connection is closed");
    const client = await this.#takeClient(end);
    let broken: Error | undefined;
    const note = (error: Error) => {
      broken = error;
    };
    client.on("error", note);
    try {
      return await work(client);
    } catch (error) {
      // If this server cannot do it, the next connection may lead to another that can.
      if (["lost", "stale", "unable"].includes(faultOf(error))) broken = error as Error;
      throw error;
    } finally {
      client.off("error", note);
      client.release(broken);
    }
  }

  /** The limit of the pool is the same for everybody, however long they have waited before. */
  async #takeClient(end: number): Promise<pg.PoolClient> {
    const taken = this.#pool.connect();
    try {
      return await within(Math.max(leastWait, end - performance.now()), taken, noneFree);
    } catch (error) {
      // It may still come.
      taken.then((client) => client.release()).catch(() => undefined);
      // Unless others have all connections, this one was being made.
      const isCut = this.#silence.isSilent() || this.#pool.totalCount < this.#limits.connections;
      throw isCut && faultOf(error) === "slow" ? new Error("timeout expired", { cause: error }) : error;
    }
  }

  async #insist<T>(attempt: (end: number) => Promise<T>, patience: number, since = performance.now()): Promise<T> {
    if (this.#underWay.size >= this.#limits.connections + this.#limits.waiting)
      throw new StoreBusy("too many requests are waiting for the database");
    const work = this.#repeated(attempt, since + patience);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  /** Retries until it works, cannot work, or the time is over. */
  async #repeated<T>(attempt: (end: number) => Promise<T>, end: number): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        const result = await attempt(end);
        this.#outages.worked();
        return result;
      } catch (error) {
        const fault = faultOf(error);
        // Only new connections are refused: an open one may become free.
        const isAway = fault === "lost" || fault === "refused";
        if (isAway) this.#outages.failed(error as Error);
        const pause = backOffDelay(failures, Math.random(), backOff[isAway ? "away" : "repeat"]);
        const again = fault === "repeat" ? failures < mostRepeats : isAway || fault === "stale";
        if (!again || performance.now() + pause > end) throw forCaller(error, fault);
        await sleep(pause);
      }
    }
  }
}

const backOff = { away: { base: 50, cap: 1_000 }, repeat: { base: 2, cap: 50 } } as const;

function forCaller(error: unknown, fault: PostgresFault): unknown {
  switch (fault) {
    case "lost":
      return new StoreBusy("the database cannot be reached", { cause: error, retryAfter: 5, isLogged: true });
    case "refused":
      return new StoreBusy("the database refuses connections from this service", {
        cause: error,
        retryAfter: 5,
        isLogged: true,
      });
    case "slow":
    case "repeat":
    case "stale":
      return new StoreBusy("the database is too busy", { cause: error });
    case "unable":
      return new StoreBusy(inabilityOf(error) ?? "the database cannot do it", {
        cause: error,
        retryAfter: 10,
        isUnable: true,
      });
    case "other":
      return error;
    default:
      return fault satisfies never;
  }
}

/**
 * Nearly every query finds a few rows by key. So each is planned once and uses an index, whatever the statistics of a
 * new table say: planning every time took as long as the rest of the query, and small tables were scanned for every
 * record.
 */
const plans = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off";

function clientConfig(limits: PostgresLimits): pg.ClientConfig {
  return {
    options: plans,
    connectionTimeoutMillis: limits.connect,
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.statement,
    // A server that has vanished cannot enforce its own limits.
    query_timeout: limits.statement + 2_000,
    // Two statements that do not depend on each other's answers share a round trip.
    pipeline: true,
  };
}

/**
 * Which of several hosts the next connection is made to: the one that worked last, or the one after it if it failed.
 */
export class PostgresHosts {
  readonly #configs: readonly ClientConfig[];
  readonly #address: PostgresAddress;
  readonly #opened: ServerCheck["opened"];
  #next = 0;

  constructor(address: PostgresAddress, opened?: ServerCheck["opened"]) {
    this.#opened = opened;
    this.#configs = [address.config, ...address.others];
    this.#address = address;
  }

  /** What the next client is made with. A host that does not answer must not use up the time for the others. */
  next(ours: ClientConfig): readonly [ClientConfig, ServerCheck] {
    const config = this.#current();
    const { session } = this.#address;
    const failed = () => {
      if (config === this.#current()) this.#next += 1;
    };
    const options = [ours.options, config.options].filter((each) => each !== undefined).join(" ");
    const limit = ours.connectionTimeoutMillis ?? perHost;
    const connectionTimeoutMillis = this.#configs.length > 1 ? Math.min(limit, perHost) : limit;
    return [
      { ...ours, ...config, connectionTimeoutMillis, ...(options && { options }) },
      { session, failed, ...(this.#opened && { opened: this.#opened }) },
    ];
  }

  /** Tries each host once. When the signal aborts, a pending query fails with its reason. */
  async connect(options: ClientConfig, signal?: AbortSignal): Promise<Client> {
    for (let left = this.#configs.length; ; left--) {
      const client = new PostgresClient(...this.next(options));
      signal?.addEventListener("abort", () => client.connection.stream.destroy(signal.reason), { once: true });
      try {
        return await client.connect();
      } catch (error) {
        if (left <= 1 || signal?.aborted) throw error;
      }
    }
  }

  #current(): ClientConfig {
    return this.#configs[this.#next % this.#configs.length] ?? this.#address.config;
  }
}

/** Milliseconds. */
const perHost = 2_000;
