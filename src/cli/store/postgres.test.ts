import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { patience } from "../../../test/rig/patience.ts";
import { fillStore } from "../../../test/rig/records/filled-store.ts";
import { type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig?.stop());

let folder: string;
let url: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-store-postgres-"));
  mkdirSync(join(folder, "tmp"));
  vi.stubEnv("TMPDIR", join(folder, "tmp"));
  const given = new URL(await rig.freshUrl());
  given.password = "";
  url = given.href;
  const store = openSqliteStore(join(folder, "b.sqlite"));
  await fillStore(store);
  store.close();
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function moor(...words: readonly string[]) {
  const { io, printed } = openTerminal(folder, AbortSignal.timeout(patience));
  return { code: await runMoor(words, { ...io, env: rig.server.env }), ...printed };
}

const restore = (...more: readonly string[]) => moor("store", "restore", "b.sqlite", "--database", url, ...more);

describe("a restore into PostgreSQL", () => {
  it("writes exactly what is in the backup", async () => {
    expect(await restore()).toMatchObject({ code: 0, err: "" });
    expect(await moor("store", "check", "--database", url)).toMatchObject({ code: 0, err: "" });
    expect(readdirSync(folder)).toEqual(["b.sqlite", "tmp"]);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("refuses a backup with faults, lists all of them, and leaves the database empty", async () => {
    const database = new DatabaseSync(join(folder, "b.sqlite"));
    database.exec("UPDATE zones SET serial = 1");
    database.close();
    const { code, err } = await restore();
    expect(code).toBe(1);
    expect(err).toMatch(
      /^zone example\.org: [\s\S]*^zone again\.example\.org: [\s\S]*Nothing was changed: b\.sqlite has /m,
    );
    expect((await moor("store", "check", "--database", url)).err).toMatch(/does not contain a moor store/);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("refuses what is not a backup", async () => {
    rmSync(join(folder, "b.sqlite"));
    expect(await restore()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the file .*b\.sqlite does not exist/),
    });
  });

  it("refuses --move-aside", async () => {
    expect(await restore("--move-aside")).toEqual({
      code: 2,
      out: "",
      err: "--move-aside works only with files, and a PostgreSQL database must be empty; create a new database and give its URL.\n",
    });
  });
});

describe("an interrupted copy from PostgreSQL", () => {
  describe("while the server does not respond", () => {
    let admin: Client;
    let holder: Client;
    const waiting = async () =>
      (await admin.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rows.length > 0;
    beforeEach(async () => {
      await restore();
      admin = await rig.server.connect();
      holder = await rig.server.connect(new URL(url).pathname.slice(1));
      await holder.query("BEGIN; LOCK zones");
    });
    afterEach(async () => {
      for (const client of [admin, holder]) await client.end();
    });

    it("ends on a signal", async () => {
      const stop = new AbortController();
      const { io, printed } = openTerminal(folder, stop.signal);
      const copying = runMoor(["store", "copy", url, "c.sqlite"], { ...io, env: rig.server.env });
      await expect.poll(waiting).toBe(true);
      stop.abort(new Error("stopped by SIGINT"));
      expect(await copying).toBe(1);
      expect(printed.err).toMatch(/^moor: stopped by SIGINT\. Nothing was copied/);
    });

    it("reports a lost connection, and works afterwards", async () => {
      const copying = moor("store", "copy", url, "c.sqlite");
      await expect.poll(waiting).toBe(true);
      await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      expect((await copying).err).toMatch(/^moor: the database postgres:\S+ cannot be used: terminating connection /);
      await holder.query("ROLLBACK");
      expect(await moor("store", "copy", url, "c.sqlite")).toMatchObject({ code: 0 });
    });
  });
});
