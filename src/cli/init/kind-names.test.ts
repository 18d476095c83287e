import { expect, it } from "vitest";
import { apiChoices } from "./records.ts";

it("the services that moor init offers begin with one that creates records", () => {
  expect(apiChoices()[0]).toMatchObject({
    value: "rrsets",
    label: "moor records",
    hint: expect.stringMatching(/^rrsets: /),
  });
  expect(apiChoices().at(-1)).toMatchObject({ value: "v1" });
});
