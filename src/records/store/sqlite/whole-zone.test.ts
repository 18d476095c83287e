import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { describeWholeZones } from "../../../../test/rig/store/whole-zone.suite.ts";
import { faultsIn } from "../../../../test/store/store-files.ts";
import { migrations } from "./schema.ts";
import { openSqliteStore } from "./store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-whole-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = () => join(folder, "records.sqlite");

describeWholeZones("SQLite", {
  denial: "nsec",
  open: async (signer) => openSqliteStore(path(), migrations, signer),
  faults: () => faultsIn(path()),
});
