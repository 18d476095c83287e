import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { until } from "../../../test/rig/until.ts";
import { fingerprintOf, watchFiles } from "./watch-files.ts";

it("notices a file that changes through a link above it, as with Kubernetes secrets", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moor-watch-"));
  const inFolder = (...names: readonly string[]) => join(folder, ...names);
  for (const version of ["..v1", "..v2"]) {
    mkdirSync(inFolder(version));
    writeFileSync(inFolder(version, "token"), version);
  }
  symlinkSync("..v1", inFolder("..data"));
  symlinkSync("..data/token", inFolder("token"));
  let changes = 0;
  const file = inFolder("token");
  const watching = watchFiles(new Map([[file, fingerprintOf(file)]]), () => {
    changes += 1;
  });
  await realPause(600, "the first check, after 300 ms, would notice a change without the watcher");
  expect(changes).toBe(0);
  symlinkSync("..v2", inFolder("..next"));
  renameSync(inFolder("..next"), inFolder("..data"));
  await until(() => changes === 1);
  watching.close();
  rmSync(folder, { recursive: true });
});
