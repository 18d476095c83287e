import { expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { finish } from "../steps.ts";
import { applyingSteps, readingSets } from "./zone-lines.ts";

const before = writtenSets("example.org", "www 300 A 192.0.2.1\nwww 300 A 192.0.2.2").map((set) => ({
  ...set,
  labels: { team: "web" },
  records: set.records.map((record, i) => ({ ...record, id: `old${i}` })),
}));
const how = { now: 9, newId: () => "new" };
const line = (rdata: string, ttl = 300) => ({ owner: "www", type: "A", ttl, rdata }) as const;

it("ids, times and labels of what is still there are kept", () => {
  const [set] = finish(readingSets([line("192.0.2.2"), line("192.0.2.3")], before, how));
  expect(set?.labels).toEqual({ team: "web" });
  expect(set?.records.map(({ id, modified }) => [id, modified])).toEqual([
    ["old1", 0],
    ["new", 9],
  ]);
});

it("a set gets its shortest TTL, and each value once", () => {
  const [set] = finish(readingSets([line("192.0.2.2", 60), line("192.0.2.3"), line("192.0.2.3")], [], how));
  expect(set).toMatchObject({ ttl: 60, records: [{ rdata: "192.0.2.2" }, { rdata: "192.0.2.3" }] });
});

it("all steps are applied, or none if a record to remove does not exist", () => {
  const steps = [
    { removed: [line("192.0.2.1")], added: [line("192.0.2.5")] },
    { removed: [line("192.0.2.5")], added: [line("192.0.2.6")] },
  ];
  const values = finish(applyingSteps(steps, before, 600, how))?.flatMap((set) =>
    set.records.map((record) => record.rdata),
  );
  expect(values).toEqual(["192.0.2.2", "192.0.2.6"]);
  expect(finish(applyingSteps([{ removed: [line("192.0.2.9")], added: [] }], before, 600, how))).toBeUndefined();
  expect(
    finish(applyingSteps([{ removed: [line("192.0.2.1"), line("192.0.2.2")], added: [] }], before, 600, how)),
  ).toEqual([]);
});
