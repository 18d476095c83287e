import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { node } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { type PostgresRig, startPostgresRig } from "../rig/records/postgres.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { any, type Said, stateOf } from "./command-writers.ts";
import { faultsIn } from "./store-files.ts";

/** `npm run test:faults` sets more. */
const kills = Math.ceil(Number(process.env.MOOR_KILLS ?? 1) / 10);
vi.setConfig({ testTimeout: 2 * testLimit + kills * 15_000 });

const program = join(import.meta.dirname, "commands-process.ts");
const kindsOfWriters = 14;

let folder: string;
let postgres: PostgresRig;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-kill-commands-"));
  postgres = await startPostgresRig();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The last state that was answered, and the one that was on its way. */
type Promised = { readonly did: string; readonly will: string | undefined };

/**
 * Runs commands of all kinds, each of which is answered at least once, and kills the process. `paused`: called just
 * before.
 */
async function runAndKill(place: string, paused: () => void = () => undefined): Promise<ReadonlyMap<string, Promised>> {
  const running = startProcess([node, program, folder, place], {});
  try {
    await until(() => promisesIn(running.out()).size === kindsOfWriters, {
      // Each time, all of its output is read.
      every: 200,
      what: () => `every kind of command: ${[...promisesIn(running.out()).keys()].join(" ")}\n${running.err()}`,
    });
    await realPause(Math.random() * 300, "a random moment");
    running.child.kill("SIGSTOP");
    paused();
  } finally {
    await running.stop("SIGKILL");
  }
  expect(running.err()).toBe("");
  return promisesIn(running.out());
}

function promisesIn(out: string): ReadonlyMap<string, Promised> {
  const found = new Map<string, Promised>();
  // The last line may be incomplete.
  for (const line of out.split("\n").slice(0, -1)) {
    const said = JSON.parse(line.slice(line.indexOf(" "))) as Said;
    const kind = line.slice(0, line.indexOf(" "));
    const before = found.get(kind);
    if ("did" in said) found.set(kind, { did: said.did, will: undefined });
    else if (before) found.set(kind, { ...before, will: said.will });
  }
  return found;
}

/** What was answered is there, and what was on its way is there completely or not at all. */
async function expectKept(store: RecordStore, promises: ReadonlyMap<string, Promised>): Promise<void> {
  const wrong = [];
  for (const [kind, { did, will }] of promises) {
    const is = await stateOf(store, kind);
    // What a killed process printed last may not have been read; then the write on its way is the one after that.
    if (is !== did && is !== will && will !== any) wrong.push({ kind, is, did, will });
  }
  expect(wrong).toEqual([]);
}

async function expectSound(database: string, promises: ReadonlyMap<string, Promised>): Promise<void> {
  const store = openSqliteStore(database);
  await expectKept(store, promises);
  store.close();
  expect(await faultsIn(database)).toEqual([]);
}

describe(`commands of every kind in flight, ${kills} times: nothing answered is lost, and nothing is half done`, () => {
  it("kill -9 and power cuts, SQLite", async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    for (let round = 0; round < kills; round += 1) {
      const copy = join(folder, `copy${round}`);
      const paused = () => cpSync(data, copy, { recursive: true });
      const promises = await runAndKill(recordsDatabase(data), paused);
      await expectSound(recordsDatabase(data), promises);
      await expectSound(recordsDatabase(copy), promises);
      rmSync(copy, { recursive: true });
    }
  });

  it("kill -9, PostgreSQL", async () => {
    const url = await postgres.preparedUrl();
    for (let round = 0; round < kills; round += 1) {
      const promises = await runAndKill(url);
      const store = await postgres.open(url);
      await expectKept(store, promises);
      await store.close();
    }
  });
});
