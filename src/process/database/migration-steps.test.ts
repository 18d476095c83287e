import { describe, expect, it } from "vitest";
import { stateAfter, stepsFor } from "./migration-steps.ts";

const added = { sql: "c", oldest: 2 } as const;

describe("the steps of a schema", () => {
  it.for([
    ["all for an empty database", ["a", "b", added], { taken: 0, oldest: 0 }, ["a", "b", "c"]],
    ["those that are missing", ["a", "b", added], { taken: 1, oldest: 1 }, ["b", "c"]],
    ["none when all are taken", ["a", "b"], { taken: 2, oldest: 2 }, []],
    ["none of a newer database that can be worked on", ["a", "b"], { taken: 3, oldest: 2 }, []],
    ["a newer database that cannot", ["a", "b"], { taken: 3, oldest: 3 }, "too-new"],
    ["an older program that cannot", ["a"], { taken: 3, oldest: 2 }, "too-new"],
  ] as const)("%s", ([, steps, state, todo]) => {
    expect(stepsFor(steps, state)).toEqual(todo);
  });

  it.for([
    ["the number of the last step", ["a", "b"], { taken: 2, oldest: 2 }],
    ["what an additive step leaves open", ["a", "b", added], { taken: 3, oldest: 2 }],
    ["never less than a later step asks", ["a", "b", added, "d"], { taken: 4, oldest: 4 }],
    ["never less than an earlier step asks", ["a", "b", "c", { sql: "d", oldest: 1 }], { taken: 4, oldest: 3 }],
  ] as const)("leave a database that says %s", ([, steps, after]) => {
    expect(stateAfter(steps, { taken: 0, oldest: 0 })).toEqual(after);
  });
});
