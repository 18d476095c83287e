import { describe, expect, it } from "vitest";
import { readWorkers } from "./options.ts";

describe("--dns-workers", () => {
  it.each([
    ["0", 0],
    ["2", 2],
    ["64", 64],
  ])("takes %s", (text, count) => {
    expect(readWorkers(text)).toBe(count);
  });

  it.each(["", "-1", "1.5", "two", "65", "100", "0x2"])("does not take %j, and says what it takes", (text) => {
    expect(() => readWorkers(text)).toThrow("0 to 64");
  });
});
