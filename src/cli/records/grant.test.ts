import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { plainSettings } from "../../records/model.ts";
import { recordsDatabase } from "../../records/open-store.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "moor-grant-"));
});

async function moor(...words: readonly string[]) {
  const { io, printed } = openTerminal(cwd);
  return { code: await runMoor([...words, "--data", "data"], io), ...printed };
}

async function inStore<T>(work: (store: RecordStore) => Promise<T>): Promise<T> {
  const store = openSqliteStore(recordsDatabase(join(cwd, "data")));
  try {
    return await work(store as unknown as RecordStore);
  } finally {
    store.close();
  }
}

/** The name of the created zone, or why it was refused. */
const create = (account: string, name: string, reserved?: "public-suffix") =>
  inStore(async (store) => {
    const { id } = await store.ensureAccount(account, 1);
    const zone = {
      account: id,
      id: name,
      name,
      settings: plainSettings(60),
      serial: 1,
      created: 1,
      sets: [],
      reserved,
    };
    const made = await createZoneIn(store, zone, "a");
    return typeof made === "string" ? made : made.name;
  });

describe("moor grant", () => {
  it("is the operator's consent to one name and account", async () => {
    expect(await moor("grant", "add", "--new", "co.uk")).toMatchObject({
      code: 0,
      out: "Grant 1: main may create co.uk.\n",
    });
    await create("them", "alpha.test");
    await moor("grant", "add", "--new", "www.alpha.test", "--account", "us");
    expect(await create("us", "a.www.alpha.test")).toBe("inside-foreign-zone");
    expect(await create("us", "www.alpha.test")).toBe("www.alpha.test");
    expect(await create("us", "co.uk", "public-suffix")).toBe("public-suffix");
    expect(await create("main", "co.uk", "public-suffix")).toBe("co.uk");
  });

  it("is the consent of a zone's owner with --zone, and ends with the zone", async () => {
    await moor("token", "add", "--new");
    await create("them", "alpha.test");
    const given = await moor("grant", "add", "--new", "dev.alpha.test", "--zone", "alpha.test", "--account", "us");
    expect(given).toMatchObject({ code: 0, out: "Grant 1: us may create dev.alpha.test and below.\n" });
    expect(await moor("grant", "add", "--new", "beta.test", "--zone", "alpha.test")).toMatchObject({
      code: 1,
      err: expect.stringContaining("beta.test is neither in the zone alpha.test nor above it"),
    });
    expect(await moor("grant", "add", "--new", "a.beta.test", "--zone", "beta.test")).toMatchObject({
      code: 1,
      err: expect.stringContaining("There is no zone beta.test"),
    });
    expect(await create("us", "a.dev.alpha.test")).toBe("a.dev.alpha.test");
  });

  it("lists and revokes", async () => {
    await moor("grant", "add", "--new", "co.uk", "--account", "us");
    await create("them", "alpha.test");
    await moor("grant", "add", "--new", "alpha.test", "--zone", "alpha.test", "--account", "us");
    const { out } = await moor("grant", "list");
    expect(out).toMatch(/1 +us +co\.uk +operator +operator/);
    expect(out).toMatch(/2 +us +alpha\.test and below +owner of alpha\.test +operator/);
    expect(JSON.parse((await moor("grant", "list", "--json")).out)).toMatchObject([
      { id: 1, account: "us", name: "co.uk", zone: null, by: "operator" },
      { id: 2, account: "us", name: "alpha.test", zone: "alpha.test" },
    ]);
    expect(await moor("grant", "revoke", "1")).toMatchObject({ code: 0 });
    expect(await moor("grant", "revoke", "1")).toMatchObject({ code: 1, err: expect.stringContaining("grant list") });
    expect(await create("us", "co.uk", "public-suffix")).toBe("public-suffix");
  });

  it("refuses what is not a valid zone name", async () => {
    expect(await moor("grant", "add", "--new", "-x.test")).toMatchObject({ code: 2 });
    expect(await moor("grant", "add", "--new", "uk")).toMatchObject({
      code: 2,
      err: expect.stringContaining("two labels"),
    });
  });
});
