import { expect, it } from "vitest";
import { sourceKinds } from "../../src/updater/sources/sources.ts";
import { sourceSuite } from "../rig/updater/source-suite.ts";
import { sourceRigs } from "../rig/updater/sources/rigs.ts";

for (const [kind, start] of Object.entries(sourceRigs)) sourceSuite(kind, start);

it("every kind of source passes the suite", () => {
  const tried = new Set(Object.keys(sourceRigs).map((kind) => sourceKinds[kind]));
  // Two names may mean the same kind.
  expect(Object.keys(sourceKinds).filter((kind) => !tried.has(sourceKinds[kind]))).toEqual([]);
});
