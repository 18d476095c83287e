import { expect, it } from "vitest";
import { within } from "./within.ts";

it.each([
  ["returns the result", async () => 7, "7"],
  ["passes on a failure", () => Promise.reject(new Error("gone")), "gone"],
  ["fails if there is no result in time", () => new Promise<number>(() => undefined), "no answer within 50 ms"],
])("%s", async (_, work: () => Promise<number>, expected) => {
  expect(await within(50, work()).then(String, (error: Error) => error.message)).toBe(expected);
});
