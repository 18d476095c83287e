import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";

type Entry = { readonly link?: boolean; readonly integrity?: string };

it("has the hash of every package, for every platform", () => {
  const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Entry>>;
  };
  const lacking = Object.entries(lock.packages).filter(
    ([place, { link, integrity }]) => place !== "" && !link && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""),
  );
  expect(Object.keys(lock.packages).length).toBeGreaterThan(200);
  expect(lacking.map(([place]) => place)).toEqual([]);
});
