import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { describeWholeZones, type WholeZoneRig } from "../../../../test/rig/store/whole-zone.suite.ts";
import { faultsIn } from "../../../../test/store/store-files.ts";
import { migrations } from "./schema.ts";
import { openSqliteStore } from "./store.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-whole-"));
});
afterAll(() => rm(folder, { recursive: true }));

const place = async () => join(await mkdtemp(join(folder, "store-")), "records.sqlite");

const rig: WholeZoneRig = {
  denial: "nsec",
  place,
  copyOf: async (from) => {
    const to = await place();
    await copyFile(from, to);
    return to;
  },
  open: async (path, signer) => openSqliteStore(path, migrations, signer),
  faults: faultsIn,
};
describeWholeZones("SQLite", rig);
