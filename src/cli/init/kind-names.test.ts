import { describe, expect, it } from "vitest";
import { sourceName, targetName, targetRank } from "../../updater/report/kind-names.ts";
import { sourceKinds } from "../../updater/sources/sources.ts";
import { targetKinds } from "../../updater/targets/targets.ts";
import { apiChoices } from "./records.ts";

describe("the services that moor init offers", () => {
  it("all have a name that people know, and their code behind it", () => {
    for (const api of Object.keys(targetKinds)) {
      expect({ api, isRanked: targetRank(api) < 100 }).toEqual({ api, isRanked: true });
      expect(apiChoices().find(({ value }) => value === api)).toMatchObject({
        label: targetName(api),
        hint: expect.stringMatching(new RegExp(`^${api}: `)),
      });
    }
    for (const kind of Object.keys(sourceKinds)) expect(sourceName(kind)).not.toBe(kind);
  });

  it("begin with one that creates records", () => {
    expect(apiChoices()[0]).toMatchObject({ value: "rrsets", label: "moor records" });
    expect(apiChoices().at(-1)).toMatchObject({ value: "v1" });
  });
});
