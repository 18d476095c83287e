import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { noLog } from "../../src/process/log.ts";
import { openStore, signingKeyFile } from "../../src/records/open-store.ts";
import { builtProgram } from "../rig/bundle.ts";
import { type Cable, layCable } from "../rig/cable.ts";
import { freePort } from "../rig/free-port.ts";
import { administer } from "../rig/moor.ts";
import { node as nodeProgram } from "../rig/namespace.ts";
import { type PostgresServer, startPostgres } from "../rig/postgres.ts";
import { addressOf } from "../rig/records/postgres.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";

/** Several real `moor records` on one real PostgreSQL. Each connects through its own cable, which can be cut. */
export type Cluster = {
  readonly server: PostgresServer;
  readonly nodes: readonly Node[];
  readonly token: string;
  /** Runs a command of moor on the database, beside the nodes. */
  readonly run: (...words: readonly string[]) => Promise<string>;
  readonly newToken: () => Promise<{ readonly id: number; readonly secret: string }>;
  readonly close: () => Promise<void>;
};

export type Node = {
  readonly name: string;
  readonly url: string;
  readonly dns: number;
  readonly cable: Cable;
  /** Its output since it was last started. */
  readonly said: () => string;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
};

export type ClusterOptions = {
  readonly count: number;
  readonly words?: readonly string[];
  readonly server?: PostgresServer;
  /** The nodes connect to this address, without cables. */
  readonly database?: string;
};

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { count, words = [], database } = options;
  const folder = mkdtempSync(join(tmpdir(), "moor-nodes-"));
  const server = options.server ?? (await startPostgres());
  const started: StartedProcess[] = [];
  const moor = (...args: readonly string[]): StartedProcess => {
    const begun = startProcess([nodeProgram, builtProgram(), ...args], {
      cwd: folder,
      env: { ...process.env, ...server.env },
    });
    started.push(begun);
    return begun;
  };
  const run: Cluster["run"] = async (...args) => {
    const { out, err } = await administer([...args, "--database", server.openUrl()], server.env);
    return out + err;
  };
  const newToken = async () => {
    const { store, close } = await openStore({ kind: "postgres", address: addressOf(server.url()) }, noLog);
    const { id: account } = await store.ensureAccount("main", Date.now());
    const secret = createToken();
    const token = { account, name: "nodes", hash: hashSecret(secret), scope: wholeAccount, created: Date.now() };
    const { id } = await store.addToken(token);
    await close();
    return { id, secret };
  };
  const { secret: token } = await newToken();
  const nodes: Node[] = [];
  const key = randomBytes(32).toString("base64");
  for (let i = 1; i <= count; i++) {
    const name = `node${i}`;
    mkdirSync(join(folder, name), { mode: 0o700 });
    writeFileSync(signingKeyFile(join(folder, name)), key, { mode: 0o600 });
    nodes.push(await layNode(server, moor, { name, folder, words, database }));
  }
  await Promise.all(nodes.map((node) => node.start()));
  return {
    ...{ server, nodes, token, run, newToken },
    close: async () => {
      await Promise.all(started.map((each) => each.stop("SIGKILL")));
      await Promise.all(nodes.map(({ cable }) => cable.close()));
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Place = {
  readonly name: string;
  readonly folder: string;
  readonly words: readonly string[];
  readonly database: string | undefined;
};

async function layNode(
  server: PostgresServer,
  moor: (...words: readonly string[]) => StartedProcess,
  { name, folder, words, database: address }: Place,
): Promise<Node> {
  const cable = await layCable(server.port);
  const [http, dns] = [await freePort(), await freePort()];
  const at = address ?? server.openUrl("postgres", cable.port);
  const database = ["--database", at, "--data", join(folder, name)];
  const places = ["--plain-http", "--listen", `127.0.0.1:${http}`, "--dns", `127.0.0.1:${dns}`];
  let process: StartedProcess | undefined;
  return {
    ...{ name, dns, cable, url: `http://127.0.0.1:${http}` },
    said: () => `${process?.out() ?? ""}${process?.err() ?? ""}`,
    kill: async () => {
      await process?.stop("SIGKILL");
    },
    start: async () => {
      process = moor("records", ...database, ...places, ...words);
      await process.says(/The record service listens on/);
    },
  };
}
