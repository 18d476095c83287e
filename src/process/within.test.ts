import { expect, it } from "vitest";
import { within } from "./within.ts";

it.each([
  ["what comes", async () => 7, "7"],
  ["what fails", () => Promise.reject(new Error("gone")), "gone"],
  ["what comes never", () => new Promise<number>(() => undefined), "no answer within 50 ms"],
])("%s", async (_, work: () => Promise<number>, expected) => {
  expect(await within(50, work()).then(String, (error: Error) => error.message)).toBe(expected);
});
