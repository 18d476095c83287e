import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const repository = join(import.meta.dirname, "../..");

it("the schema for editors and the reference pages are up to date with the settings", () => {
  const made = mkdtempSync(join(tmpdir(), "moor-config-pages-"));
  execFileSync(process.execPath, ["scripts/describe-config.ts", made], { cwd: repository });
  for (const file of ["moor.schema.json", "docs/config.md", "docs/sources.md", "docs/targets.md"]) {
    // Stale? Run: npx node scripts/describe-config.ts
    expect(readFileSync(join(repository, file), "utf8")).toBe(readFileSync(join(made, file), "utf8"));
  }
});
