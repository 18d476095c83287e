import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { node } from "./namespace.ts";
import { startProcess } from "./started-process.ts";
import { whileLocked } from "./while-locked.ts";

it("the lock of a killed process does not stop the next one", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "moor-lock-")), "lock");
  const module = JSON.stringify(join(import.meta.dirname, "while-locked.ts"));
  const program = `import { whileLocked } from ${module}; whileLocked(${JSON.stringify(file)}, () => { process.stdout.write("locked"); for (;;); });`;
  const holder = startProcess([node, "--input-type=module", "--eval", program], {});
  await holder.says(/locked/);
  await holder.stop("SIGKILL");
  let isDone = false;
  whileLocked(file, () => {
    isDone = true;
  });
  expect(isDone).toBe(true);
});
