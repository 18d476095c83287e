import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { aSet } from "../../test/rig/records/a-set.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";
import { noLog } from "../process/log.ts";
import { plainSettings } from "./model.ts";
import { openStore, recordsDatabase } from "./open-store.ts";

/** Each thread has one, and the process does not end before they do. */
const ports = () => process.getActiveResourcesInfo().filter((each) => each === "MessagePort").length;

it("a write that is committed while the store closes leaves no thread behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moor-open-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const before = ports();
  const { store, close } = await openStore({ kind: "sqlite", path: recordsDatabase(folder) }, noLog);
  const { id: account } = await store.ensureAccount("main", 1);
  const setsOf = (zone: number) => Array.from({ length: 30 }, (_, i) => aSet(`h${i}`, `10.0.${zone}.${i}`));
  const settings = plainSettings(60);
  const writing = Array.from({ length: 20 }, (_, i) =>
    createZoneIn(
      store,
      { account, id: `z${i}`, name: `z${i}.example`, settings, serial: 1, created: 1, sets: setsOf(i) },
      "tester",
    ),
  );
  await close();
  await Promise.all(writing);
  expect(ports()).toBe(before);
});
