import { expect, it } from "vitest";
import { inTime } from "./in-time.ts";

it.each([
  ["what comes", async () => 7, 7],
  ["what fails", () => Promise.reject(new Error("gone")), undefined],
  ["what comes never", () => new Promise<number>(() => undefined), undefined],
])("%s", async (_, work: () => Promise<number>, expected) => {
  expect(await inTime(50, work)).toBe(expected);
});
