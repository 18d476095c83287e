import { describe, expect, it } from "vitest";
import { areTrueOf, readSelector } from "./labels.ts";

describe("a label selector", () => {
  const objects = { a: { env: "prod" }, b: { env: "", "a.b/c.d": "1" }, c: { "0": "1" } };

  it.each([
    ["env", ["a", "b"]],
    ["env in (,x)", ["b"]],
    ["env==prod", ["a"]],
    ["!env", ["c"]],
    ["env!=prod", ["b"]],
    ["env notin (prod,)", []],
    ["a.b/c.d=1", ["b"]],
    ["0=1", ["c"]],
    ["env,env!=prod", ["b"]],
    ["constructor", []],
  ])("%s chooses %j", (text, chosen) => {
    const selector = readSelector(text);
    if (!selector.ok) throw new Error(JSON.stringify(selector.faults));
    const isChosen = ([, labels]: [string, Readonly<Record<string, string>>]) => areTrueOf(selector.value, labels);
    expect(
      Object.entries(objects)
        .filter(isChosen)
        .map(([name]) => name),
    ).toEqual(chosen);
  });
});
