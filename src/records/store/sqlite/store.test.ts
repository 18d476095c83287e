import { mkdir, mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { makePool } from "../../../../test/rig/records/pool-of-addresses.ts";
import { describeActions } from "../../../../test/rig/store/actions.suite.ts";
import { describeFront } from "../../../../test/rig/store/front.suite.ts";
import { describeHistory } from "../../../../test/rig/store/history.suite.ts";
import { describeManyWrites } from "../../../../test/rig/store/many.suite.ts";
import { describeNeighbours } from "../../../../test/rig/store/neighbours.suite.ts";
import { describeRecordIds } from "../../../../test/rig/store/record-ids.suite.ts";
import { describeSignIn } from "../../../../test/rig/store/sign-in.suite.ts";
import { describeSigning } from "../../../../test/rig/store/signing.suite.ts";
import { describeStore } from "../../../../test/rig/store/store.suite.ts";
import { describeTokens } from "../../../../test/rig/store/tokens.suite.ts";
import { describeTransferKeys } from "../../../../test/rig/store/transfer.suite.ts";
import { wholeAccount } from "../../../core/may.ts";
import { takeSole } from "../../../lib/sqlite/sole.ts";
import type { Signer } from "../../signing/signer.ts";
import { openConsoleStore } from "./console.ts";
import { migrations } from "./schema.ts";
import { openSqliteStore } from "./store.ts";

describeStore("SQLite", async () => openSqliteStore(":memory:"));
describeTokens("SQLite", async () => openSqliteStore(":memory:"));
describeSignIn("SQLite", async () => {
  const console = openConsoleStore(":memory:", migrations);
  return { console, close: console.close };
});
describeNeighbours("SQLite", async () => openSqliteStore(":memory:"));
describeTransferKeys("SQLite", async () => openSqliteStore(":memory:"));
describeFront("SQLite", async () => openSqliteStore(":memory:"));
describeActions("SQLite", async () => openSqliteStore(":memory:"));
// In memory there is only one connection, and large writes are done in another way.
describeManyWrites("SQLite", async () =>
  openSqliteStore(join(await mkdtemp(join(tmpdir(), "moor-many-")), "records.sqlite")),
);
describeHistory("SQLite", async () => openSqliteStore(":memory:"));
describeRecordIds("SQLite", async () => openSqliteStore(":memory:"));
const openSigning = async (signer: Signer) =>
  openSqliteStore(join(await mkdtemp(join(tmpdir(), "moor-signed-")), "records.sqlite"), migrations, signer);
describeSigning("SQLite", "nsec", openSigning);

describe("a SQLite file", () => {
  let path: string;
  beforeEach(async () => {
    path = join(await mkdtemp(join(tmpdir(), "moor-store-")), "records.sqlite");
  });

  it("still has its content when it is opened again", async () => {
    const first = openSqliteStore(path);
    const account = await first.ensureAccount("main", 1);
    await first.addToken({ account: account.id, name: "t", hash: "h", scope: wholeAccount, created: 1 });
    first.close();
    const second = openSqliteStore(path);
    expect(await second.tokenByHash("h")).toMatchObject({ name: "t" });
    second.close();
  });

  it("counts waiting and failed writes", async () => {
    const store = openSqliteStore(path);
    const done = store.ensureAccount("main", 1);
    expect(store.counters.waiting).toBe(1);
    await done;
    expect(store.counters).toMatchObject({ waiting: 0, writes: 1, failed: 0 });
    const token = { account: 1, name: "t", hash: "h", scope: wholeAccount, created: 1 };
    const both = await Promise.allSettled([store.addToken(token), store.addToken(token)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(store.counters).toMatchObject({ waiting: 0, writes: 4, failed: 1 });
    store.close();
  });

  it("finishes pending writes when it is closed", async () => {
    const store = openSqliteStore(path);
    const pending = store.ensureAccount("main", 1);
    store.close();
    expect(await pending).toMatchObject({ name: "main" });
  });

  it("stores the counted uses when it is closed", async () => {
    const first = openSqliteStore(path);
    const account = await first.ensureAccount("main", 1);
    const token = { account: account.id, name: "t", hash: "h", scope: wholeAccount, created: 1 };
    first.noteUse((await first.addToken(token)).id, 7);
    first.close();
    const second = openSqliteStore(path);
    expect(await second.tokens()).toMatchObject([{ uses: 1, lastUsed: 7 }]);
    second.close();
  });

  it("notices that another process revoked a token", async () => {
    const [one, two] = [openSqliteStore(path), openSqliteStore(path)];
    const { id: account } = await one.ensureAccount("main", 1);
    const { id } = await one.addToken({ account, name: "t", hash: "h", scope: wholeAccount, created: 1 });
    expect((await two.tokenByHash("h"))?.revoked).toBeUndefined();
    const seen: unknown[] = [];
    two.onAccessChange(() => void Promise.resolve(two.tokenByHash("h")).then((token) => seen.push(token?.revoked)));
    await one.revokeToken(id, 5);
    await expect.poll(() => seen).toContain(5);
    one.close();
    two.close();
  });

  it("shows immediately what another process wrote", async () => {
    const [one, two] = [openSqliteStore(path), openSqliteStore(path)];
    const account = await one.ensureAccount("main", 1);
    await one.addToken({ account: account.id, name: "t", hash: "h", scope: wholeAccount, created: 1 });
    expect(await two.tokenByHash("h")).toMatchObject({ name: "t" });
    one.close();
    two.close();
  });

  it("notifies its followers of what another process wrote, without a write of its own", async () => {
    const [one, two] = [openSqliteStore(path), openSqliteStore(path)];
    const pool = await makePool(one);
    const seen: number[] = [];
    two.onChange(() => void two.lastChange().then((last) => seen.push(last)));
    await pool.add(one, "192.0.2.1");
    await expect.poll(() => seen.at(-1)).toBe(await one.lastChange());
    one.close();
    two.close();
  });

  it("is readable only by its owner", async () => {
    openSqliteStore(path).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    [
      "no database at all",
      async () => await writeFile(path, "this is not a database, it is a text about one".repeat(20)),
    ],
    ["overwritten after its first page", async () => await overwriteRest(path)],
    ["from a newer version", async () => newerVersion(path), /start the newer version/],
    ["of another program", async () => ofAnotherProgram(path), /tables of another program[\s\S]*move it away/],
    ["a folder", async () => await mkdir(path), /cannot be used[\s\S]*change the owner of both/],
    ["locked by another program", async () => takenByAnother(path), /cannot be used[\s\S]*Try again/],
  ])(
    "prevents the start if it is %s, and says what to do",
    async (_, damage, todo = /cannot be used[\s\S]*move it away/) => {
      await damage();
      expect(() => openSqliteStore(path)).toThrow(todo);
    },
  );
});

async function overwriteRest(path: string): Promise<void> {
  openSqliteStore(path).close();
  const { readFile } = await import("node:fs/promises");
  const bytes = await readFile(path);
  await writeFile(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]));
}

/** Until the test ends. */
function takenByAnother(path: string): void {
  openSqliteStore(path).close();
  const sole = takeSole(path);
  if (sole !== "in-use") onTestFinished(() => sole.close());
}

function ofAnotherProgram(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE songs (name TEXT)");
  database.close();
}

function newerVersion(path: string): void {
  openSqliteStore(path).close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 9999");
  database.close();
}
