import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Fault } from "../../src/core/result.ts";
import { StoreBusy } from "../../src/lib/limits/store-busy.ts";
import { noLog } from "../../src/process/log.ts";
import { plainSettings, type Zone } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import { openPostgresStore, type PostgresStore } from "../../src/records/store/postgres/store.ts";
import { checkStore } from "../../src/records/tools/check/check.ts";
import { readTables } from "../../src/records/tools/tables/open.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { node as nodeProgram } from "../rig/namespace.ts";
import { patience, testLimit } from "../rig/patience.ts";
import { addressOf, type PostgresRig, patient, startPostgresRig } from "../rig/records/postgres.ts";
import { servedLines } from "../rig/records/served-lines.ts";
import { signZone } from "../rig/records/sign.ts";
import { createZoneIn, writeTo } from "../rig/store/write.ts";
import { until } from "../rig/until.ts";
import type { Leads } from "./following-node.ts";

const name = "following.example";
const hosts = ["h0", "h1", "h2", "h3", "h4"];
const now = Date.now();

let folder: string;
let rig: PostgresRig;
let url: string;
/** A node that writes, and never leads. */
let store: PostgresStore;
let zone: Zone;
const nodes: FollowingNode[] = [];

type FollowingNode = { readonly child: ChildProcess; leads: boolean };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-following-"));
  rig = await startPostgresRig();
  url = await rig.preparedUrl();
  const signer = new KeyFileSigner(join(folder, "key"));
  store = await openPostgresStore({ address: addressOf(url), log: noLog, signer, limits: patient });
  const { id: account } = await store.ensureAccount("main", now);
  const lines = hosts.map((host) => `${host} 60 A 192.0.2.1`).join("\n");
  const sets = setsIn(`@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${lines}`);
  const settings = plainSettings(60);
  const made = await createZoneIn(store, { account, id: name, name, settings, serial: 1, created: now, sets }, "test");
  if (typeof made === "string") throw new Error(made);
  const { end } = store.signChanges();
  await signZone({ store, now }, made, { algorithm: 15, denial: "nsec3" }, signer);
  await end();
  zone = (await store.zone(account, name)) ?? made;
});
afterAll(async () => {
  for (const { child } of nodes) child.kill("SIGKILL");
  await store?.close();
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const setsIn = (text: string) =>
  writtenSets(name, text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));

function startNode(): void {
  const words = [url, join(folder, "key")];
  const child = fork(join(import.meta.dirname, "following-node.ts"), words, { execPath: nodeProgram, execArgv: [] });
  const node: FollowingNode = { child, leads: false };
  child.on("message", ({ leads }: Leads) => {
    node.leads = leads;
  });
  nodes.push(node);
}

const stopped = new Set<FollowingNode>();

async function leader(): Promise<FollowingNode> {
  const leading = () => nodes.find((node) => node.leads && !node.child.killed && !stopped.has(node));
  await until(() => leading() !== undefined, { what: () => "a node to lead" });
  return leading() as FollowingNode;
}

/** It is written again until it is certain. */
async function put(host: string, address: string): Promise<void> {
  const wanted = setsIn(`${host} 60 A ${address}`);
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => [host], actor: "test", now };
  await until(
    () =>
      writeTo(store, request, () => ({ wanted, result: undefined })).then(
        () => true,
        (error: unknown) => {
          if (error instanceof StoreBusy) return false;
          throw error;
        },
      ),
    { what: () => `${host} to be written` },
  );
}

const current = async () => (await store.zone(zone.account, zone.id)) ?? zone;
const served = async () => (await servedLines(store, await current(), 0, hosts)).split(",");

/** What was written before is signed. */
async function catchUp(after: string): Promise<void> {
  const { serial } = await current();
  await until(async () => Number((await served()).at(-1)) >= serial, { what: () => `signatures after ${after}` });
}

async function faults(): Promise<readonly Fault[]> {
  const tables = await readTables({ kind: "postgres", address: addressOf(url) }, "look", AbortSignal.timeout(patience));
  const found: Fault[] = [];
  try {
    await checkStore(tables, { fault: (fault) => void found.push(fault), signal: new AbortController().signal });
  } finally {
    await tables.close();
  }
  return found;
}

it("when the node that signs is stopped, killed or cut off, another goes on, and nothing is signed twice", {
  timeout: 3 * testLimit,
}, async () => {
  const start = await store.lastChange();
  startNode();
  startNode();
  const last = new Map<string, string>();
  let isWriting = true;
  const writing = (async () => {
    for (let i = 1; isWriting; i++) {
      const [host = "", address] = [hosts[i % hosts.length], `192.0.${i >> 8}.${i & 255}`];
      await put(host, address);
      last.set(host, address);
    }
  })();

  const first = await leader();
  await catchUp("the start");

  stopped.add(first);
  first.child.kill("SIGSTOP");
  expect(await leader()).not.toBe(first);
  await catchUp("a stop");
  // It goes on with what it was about to sign.
  first.child.kill("SIGCONT");
  await until(() => !first.leads, { what: () => "the stopped node to learn that it leads no more" });
  stopped.delete(first);

  const second = await leader();
  second.child.kill("SIGKILL");
  second.leads = false;
  await catchUp("a kill");
  startNode();

  const client = await rig.server.connect(new URL(url).pathname.slice(1));
  await client.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  await client.end();
  await catchUp("a cut");

  isWriting = false;
  await writing;
  await catchUp("the end");
  expect((await served()).slice(0, -1)).toEqual(hosts.map((host) => last.get(host)));
  const rows = (await store.logAfter(start, 1_000_000)).flatMap(({ change }) =>
    change.kind === "signatures" ? [change] : [],
  );
  expect(rows.length).toBeGreaterThan(4);
  expect(rows.slice(1).map(({ after }) => after)).toEqual(rows.slice(0, -1).map(({ through }) => through));
  expect(await faults()).toEqual([]);
});
