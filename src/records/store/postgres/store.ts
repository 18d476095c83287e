import { createSessionStore } from "../../../access/session-store.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { dropOldMarks } from "../../../lib/postgres/commit-marks.ts";
import { onlyReads } from "../../../lib/postgres/faults.ts";
import { migratePostgres, watchSchema } from "../../../lib/postgres/migrate.ts";
import {
  type ConnectionCount,
  openPostgres,
  type Postgres,
  type PostgresLimits,
  usualLimits,
} from "../../../lib/postgres/open.ts";
import type { PostgresAddress } from "../../../lib/postgres/url.ts";
import type { DatabaseTrouble, MigrationStep } from "../../../lib/sqlite/migration-steps.ts";
import type { Sql } from "../../../lib/sqlite/sql.ts";
import type { Logger } from "../../../process/log.ts";
import type { Signer } from "../../signing/signer.ts";
import { createChangeFeed } from "../change-feed.ts";
import type { ConsoleStore } from "../console-store.ts";
import { createStoreCounters } from "../counters.ts";
import type { RecordStore } from "../port.ts";
import { type RecordLimits, RecordQuota } from "../record-limits.ts";
import { createSqlConsole } from "../sql/console.ts";
import { createSqlFront } from "../sql/front.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlLeftovers } from "../sql/leftovers.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlSignedZones } from "../sql/signed-zones.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { PostgresFeed } from "./feed.ts";
import { createPostgresGuesses } from "./guesses.ts";
import { createLogReads } from "./log.ts";
import { readObstacle } from "./neighbours.ts";
import { createPurge } from "./purge.ts";
import { type PostgresQueueOptions, PostgresWriteQueue, type Write } from "./queue.ts";
import { createHotReads } from "./read.ts";
import { postgresMigrations } from "./schema.ts";
import { createAsideStore } from "./signed/aside-store.ts";
import { createSigning, type PostgresSigning } from "./signed/followed-store.ts";
import { SignsAside } from "./signed/signs-aside.ts";
import { countWrites, postgresSql } from "./sql.ts";
import { createWriteAccess, PostgresTokens, type WriteAccess } from "./tokens.ts";
import { createRun } from "./writes.ts";

export type PostgresStoreOptions = {
  readonly address: PostgresAddress;
  readonly log: Logger;
  readonly limits?: Partial<PostgresLimits>;
  /** Further writes are refused. */
  readonly mostWaiting?: number;
  /** Without it, zones cannot be signed. */
  readonly signer?: Signer;
  /** Absent: zones may have any number of records. */
  readonly recordLimits?: RecordLimits | undefined;
  /** For tests of upgrades. */
  readonly migrations?: readonly MigrationStep[];
};

export type PostgresStore = Omit<RecordStore, "close"> & {
  readonly console: ConsoleStore;
  /** Rejects if the database cannot be read now, or accepts no writes. */
  readonly checkHealth: () => Promise<unknown>;
  readonly connections: () => ConnectionCount;
  readonly connect: Postgres["connect"];
  readonly signChanges: PostgresSigning["signChanges"];
  /** Settles when a newer version has upgraded the database to a schema that is not compatible with this one. */
  readonly outgrown: Promise<DatabaseTrouble>;
  readonly close: () => Promise<void>;
};

/** The store on PostgreSQL. Any number of nodes can share one database. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { address, log, migrations = postgresMigrations } = options;
  const postgres = openPostgres(address, log, { ...usualLimits, ...options.limits });
  try {
    await migratePostgres(postgres.connect, address.shown, migrations);
    await postgres.transact(async () => ({ result: undefined, last: { text: dropOldMarks } }));
    return await openOn(postgres, { ...options, migrations });
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

type OpeningOptions = PostgresStoreOptions & { readonly migrations: readonly MigrationStep[] };

async function openOn(opened: Postgres, options: OpeningOptions): Promise<PostgresStore> {
  const { address, log, migrations, recordLimits } = options;
  const schema = watchSchema(opened, { steps: migrations, shown: address.shown, log });
  const { postgres } = schema;
  const counters = createStoreCounters();
  const counted = countWrites(postgres, counters);
  const sql = postgresSql(counted);
  const reads = createHotReads(postgres);
  const access = createChangeFeed();
  const accessChanged = () => {
    tokens.forget();
    access.announce();
  };
  const writeAccess = createWriteAccess(counted, accessChanged);
  const tokens = new PostgresTokens(counted, writeAccess, () => feed.isUp(), recordLimits?.quotas);
  const guesses = createPostgresGuesses(postgres);
  const logReads = createLogReads(postgres);
  const feed = new PostgresFeed({
    postgres,
    log,
    start: await logReads.logEnd(),
    logEnd: logReads.logEnd,
    tokensChanged: accessChanged,
    schemaChanged: schema.checkSteps,
    guessed: guesses.heard,
  });
  const lists = createSqlReads(sql, reads.zoneBy);
  const signedZones = createSqlSignedZones(sql);
  const { setKeysAfter } = lists;
  const asideReads = { ...signedZones, setKeysAfter, lastChange: reads.lastChange };
  const writes = openWrites(options, { postgres, sql, counters, feed, asideReads });
  return {
    ...tokens.store,
    ...createSqlTransferKeys(sql),
    ...createSqlGrants(sql),
    ...createSqlFront(sql),
    ...signedZones,
    ...createSqlLeftovers(sql),
    ...accessStore(sql, writeAccess, guesses.shared),
    ...lists,
    ...reads,
    ...logReads,
    ...writes.store,
    obstacleTo: (newZone) => readObstacle(postgres.read, newZone),
    onChange: feed.listen,
    onAccessChange: access.listen,
    counters,
    checkHealth: () => checkWritable(postgres),
    connect: postgres.connect,
    connections: postgres.connections,
    outgrown: schema.outgrown,
    close: async () => {
      await writes.close();
      await tokens.flushUses();
      await feed.close();
      await postgres.close();
    },
  };
}

type WritesOptions = Pick<PostgresQueueOptions, "postgres" | "counters"> & {
  readonly sql: Sql;
  readonly feed: Pick<PostgresFeed, "committed" | "listen">;
  readonly asideReads: Parameters<typeof createAsideStore>[0]["reads"];
};

function openWrites(
  { log, signer, limits, mostWaiting, recordLimits }: PostgresStoreOptions,
  { sql, feed, asideReads, postgres, counters }: WritesOptions,
) {
  const lockLimit = limits?.lock ?? usualLimits.lock;
  const limited = { lockLimit, mostWaiting, mostZones: recordLimits?.quotas?.zones, mostValues: recordLimits?.set };
  const { committed, listen } = feed;
  const queue = new PostgresWriteQueue({ postgres, counters, committed, ...limited, purge: createPurge(), signer });
  const asides = new SignsAside(createAsideStore({ postgres, reads: asideReads }), signer);
  const add = <T>(write: Write<T>): Promise<T> => queue.add(write);
  const recordQuota = recordLimits && new RecordQuota(recordLimits, sql);
  const run = createRun({ add, signer, recordQuota, signFirst: asides.signFirst });
  const { schedule, signAside } = asides;
  return {
    store: { run, ...createSigning({ postgres, signer, add, schedule, signAside, listen, log }) },
    close: async (): Promise<void> => {
      await asides.close();
      await queue.drain();
    },
  };
}

/** Who may sign in, and writes that end access. */
const accessStore = (
  sql: Sql,
  writeAccess: WriteAccess,
  guesses: ReturnType<typeof createPostgresGuesses>["shared"],
): Pick<PostgresStore, "revokeTransferKey" | "console"> => ({
  revokeTransferKey: (name, now) => writeAccess((inside) => createSqlTransferKeys(inside).revokeTransferKey(name, now)),
  console: {
    ...createSqlConsole(sql),
    sessions: {
      ...createSessionStore(sql),
      remove: (who, id) => writeAccess((inside) => createSessionStore(inside).remove(who, id)),
      removeAll: (who) => writeAccess((inside) => createSessionStore(inside).removeAll(who)),
      removeTickets: (which) => writeAccess((inside) => createSessionStore(inside).removeTickets(which)),
    },
    guesses,
    close: () => undefined,
  },
});

async function checkWritable(postgres: Pick<Postgres, "queryBriefly">): Promise<void> {
  const text = "SELECT current_setting('transaction_read_only') AS read_only FROM log_head";
  const [row] = (await postgres.queryBriefly({ text })).rows as { read_only: string }[];
  if (row?.read_only === "on") throw new StoreBusy(onlyReads);
}
