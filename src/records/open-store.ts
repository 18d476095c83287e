import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Client } from "pg";
import { tellingEnds } from "../access/session-store.ts";
import { StoreBusy } from "../lib/limits/store-busy.ts";
import type { ConnectionCount } from "../lib/postgres/open.ts";
import type { PostgresAddress } from "../lib/postgres/url.ts";
import type { DatabaseTrouble } from "../lib/sqlite/migration-steps.ts";
import type { Logger } from "../process/log.ts";
import { KeyFileSigner, type Signer } from "./signing/signer.ts";
import type { ConsoleStore } from "./store/console-store.ts";
import type { RecordStore } from "./store/port.ts";
import type { PostgresStore } from "./store/postgres/store.ts";
import type { RecordLimits } from "./store/record-limits.ts";
import { openConsoleStore } from "./store/sqlite/console.ts";
import { migrations } from "./store/sqlite/schema.ts";
import { openSqliteStore } from "./store/sqlite/store.ts";
import { startWalCheckpoints } from "./store/sqlite/wal-checkpoints.ts";
import { watchWrites } from "./store/write-health.ts";

/** Where a service keeps its records. */
export type StorePlace =
  | { readonly kind: "sqlite"; readonly path: string }
  | {
      readonly kind: "postgres";
      readonly address: PostgresAddress;
      readonly connections?: number | undefined;
      /** The private keys of signed zones are encrypted with it; every node needs a copy of the same one. */
      readonly keyFile?: string;
    };

/** Defined here so that commands that only open the store do not load the HTTP server. */
export const recordsDatabase = (dataFolder: string): string => join(dataFolder, "records.sqlite");

/**
 * The private keys of signed zones are encrypted with this file. It is not in the database, so no backup contains it.
 */
export const signingKeyFile = (dataFolder: string): string => join(dataFolder, "records.dnssec-key");

export type OpenStore = {
  readonly store: RecordStore;
  /** Makes keys and signs zones. */
  readonly signer: Signer;
  readonly console: ConsoleStore;
  /** Rejects if the store cannot be read now or no longer accepts writes. */
  readonly checkHealth: () => Promise<unknown>;
  /** Opens a separate connection to a database that other nodes may share; undefined if it cannot be shared. */
  readonly connect: (() => Promise<Client>) | undefined;
  /**
   * As in `PostgresStore`. A file is signed by each process that writes to it.
   */
  readonly signChanges: PostgresStore["signChanges"];
  /** How many connections to a database server there are; undefined for a file. */
  readonly connections: (() => ConnectionCount) | undefined;
  /** Settles when a newer moor has upgraded the shared database beyond what this one supports. */
  readonly outgrown?: Promise<DatabaseTrouble>;
  /** Closes everything that was opened with the store. */
  readonly close: () => Promise<void>;
};

/** `limits`: for a service that others use. */
export async function openStore(place: StorePlace, log: Logger, limits?: RecordLimits): Promise<OpenStore> {
  switch (place.kind) {
    case "sqlite":
      return openFile(place.path, log, limits);
    case "postgres":
      return await openServer(place, log, limits);
    default:
      return place satisfies never;
  }
}

/** A service on a disk without as much room as one page of the write-ahead log takes is not well. */
async function expectRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < leastRoom) throw new StoreBusy("the disk of the service is full", { isUnable: true });
}

const leastRoom = 8_192;

function openFile(path: string, log: Logger, limits: RecordLimits | undefined): OpenStore {
  const keyFile = signingKeyFile(dirname(path));
  const signer = new KeyFileSigner(keyFile);
  const store = watchWrites(openSqliteStore(path, migrations, signer, limits, log));
  try {
    const opened = openConsoleStore(path, migrations);
    const console = { ...opened, sessions: tellingEnds(opened.sessions, store.accessChanged) };
    const checkpoints = startWalCheckpoints(path, log);
    store.onWrite(checkpoints.wrote);
    const close = async () => {
      await store.drain();
      // The last writes must not start a thread that nobody ends: the process would never exit.
      store.onWrite(() => undefined);
      await checkpoints.close();
      console.close();
      store.close();
    };
    return {
      store,
      signer,
      console,
      // A read that works says nothing about the next write.
      checkHealth: async () => await expectRoom(dirname(path)).then(store.checkHealth),
      connect: undefined,
      connections: undefined,
      signChanges: () => ({ lookForMore: () => undefined, end: () => undefined }),
      close,
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Loads the PostgreSQL client only if it is used. */
async function openServer(
  place: Extract<StorePlace, { kind: "postgres" }>,
  log: Logger,
  recordLimits: RecordLimits | undefined,
): Promise<OpenStore> {
  const { openPostgresStore } = await import("./store/postgres/store.ts");
  const { address, connections, keyFile } = place;
  const signer = new KeyFileSigner(keyFile ?? signingKeyFile("."));
  const store = watchWrites(
    await openPostgresStore({
      address,
      log,
      signer,
      recordLimits,
      ...(connections && { limits: { connections } }),
    }),
  );
  const { console, checkHealth, connect, signChanges, connections: count, outgrown, close } = store;
  return { store, signer, console, checkHealth, connect, signChanges, connections: count, outgrown, close };
}
