import { expect, it } from "vitest";
import { recordTypes } from "../../../src/core/rdata/table.ts";
import { useOf } from "./type-use.ts";

it("the types that people use every day have a colour, and address types the same one", () => {
  const grey = recordTypes.filter((type) => useOf(type) === "other");
  expect(grey).toEqual(["HINFO", "RP"]);
  expect(useOf("AAAA")).toBe(useOf("A"));
});
