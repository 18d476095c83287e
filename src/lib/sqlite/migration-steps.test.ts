import { describe, expect, it } from "vitest";
import { stateAfter, stepsFor } from "./migration-steps.ts";

const added = { sql: "c", oldest: 2 } as const;

describe("the steps of a schema", () => {
  it.for([
    ["all run on an empty database", ["a", "b", added], { taken: 0, oldest: 0 }, ["a", "b", "c"]],
    ["only the missing ones run", ["a", "b", added], { taken: 1, oldest: 1 }, ["b", "c"]],
    ["none run if none are missing", ["a", "b"], { taken: 2, oldest: 2 }, []],
    ["none run on a newer database that this program can use", ["a", "b"], { taken: 3, oldest: 2 }, []],
    ["a newer database is refused if it requires its last step", ["a", "b"], { taken: 3, oldest: 3 }, "too-new"],
    ["a newer database is refused by a program that is too old", ["a"], { taken: 3, oldest: 2 }, "too-new"],
  ] as const)("%s", ([, steps, state, todo]) => {
    expect(stepsFor(steps, state)).toEqual(todo);
  });

  it.for([
    ["all steps", ["a", "b"], { taken: 2, oldest: 2 }],
    ["fewer steps after an additive one", ["a", "b", added], { taken: 3, oldest: 2 }],
    ["all steps if a later one requires them", ["a", "b", added, "d"], { taken: 4, oldest: 4 }],
    ["those that an earlier step requires", ["a", "b", "c", { sql: "d", oldest: 1 }], { taken: 4, oldest: 3 }],
  ] as const)("leave a database that requires programs to know %s", ([, steps, after]) => {
    expect(stateAfter(steps, { taken: 0, oldest: 0 })).toEqual(after);
  });
});
