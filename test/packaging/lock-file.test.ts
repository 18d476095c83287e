import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";

type Entry = Readonly<{
  link?: boolean;
  integrity?: string;
  optional?: boolean;
  dev?: boolean;
  os?: readonly string[];
}> & {
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
};

const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const lacking = Object.entries(lock.packages).filter(
  ([place, { link, integrity }]) => place !== "" && !link && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""),
);

/** Where moor runs and is tested. */
const isOurs = ({ os, cpu, libc = ["glibc"] }: Entry): boolean =>
  (os?.includes("linux") ?? true) &&
  libc.includes("glibc") &&
  (cpu?.some((one) => one === "x64" || one === "arm64") ?? true);

it("every package that can be installed on our platforms, and every one that moor ships with, has the hash of its content", () => {
  const installed = lacking.filter(([, entry]) => isOurs(entry) || !entry.dev || !entry.optional);
  expect(installed.map(([place]) => place)).toEqual([]);
});

/**
 * Tools of development for other platforms, in versions that the registry at hand does not have: `scripts/complete-lock.ts` looks
 * them up each time it runs. None may be added beside these.
 */
it("without one are only development tools for other platforms", () => {
  const tools =
    /^node_modules\/(?:@biomejs\/cli|@oxc-parser\/binding|@oxlint\/binding|@oxlint-tsgolint|@rolldown\/binding)[-/]/;
  expect(lacking.map(([place]) => place).filter((place) => !tools.test(place))).toEqual([]);
  expect(lacking.length).toBeLessThanOrEqual(59);
});
