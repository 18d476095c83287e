import { expect, it } from "vitest";
import { mostSmallParts } from "./excess.ts";
import { wholeLines } from "./whole-lines.ts";

const heard = (longest: number, ...chunks: readonly string[]): readonly string[] => {
  const texts: string[] = [];
  const add = wholeLines((text) => void texts.push(text), longest);
  for (const chunk of chunks) add(chunk);
  return texts;
};

it("passes on what ends with a line", () => {
  expect(heard(9, "a", "b\nc\rd", "e", "\r", "\nf")).toEqual(["ab\nc\r", "de\r", "\n"]);
});

it("refuses a line that is too long, or arrives in too many tiny parts", () => {
  const parts = Array<string>(mostSmallParts).fill("x");
  expect(heard(1e6, ...parts, "\n", ...parts)).toHaveLength(1);
  expect(() => heard(1e6, ...parts, "x")).toThrow(/too small/);
  expect(heard(1e6, ...parts.map(() => "\n"), "\n")).toHaveLength(mostSmallParts + 1);
  expect(() => heard(9, "a\n0123456789")).toThrow(/too long/);
});
