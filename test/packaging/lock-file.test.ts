import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";

type Entry = { readonly link?: boolean; readonly integrity?: string; readonly engines?: unknown };

const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

it("the lock file does not make npm warn about an older Node: moor runs on the one that npm installs", () => {
  const warning = Object.entries(lock.packages).filter(([, { engines }]) => engines !== undefined);
  // If this fails, run: npx node scripts/complete-lock.ts
  expect(warning.map(([place]) => place)).toEqual([]);
});

it("the lock file has the hash of every package, for every platform", () => {
  const lacking = Object.entries(lock.packages).filter(
    ([place, { link, integrity }]) => place !== "" && !link && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""),
  );
  expect(Object.keys(lock.packages).length).toBeGreaterThan(200);
  expect(lacking.map(([place]) => place)).toEqual([]);
});
