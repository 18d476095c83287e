import { expect, test } from "vitest";
import { createLog } from "./log.ts";
import { createSmallLog } from "./small-log.ts";

const lines = (make: typeof createSmallLog, format: "text" | "json") => {
  const written: string[] = [];
  const log = make({ format, write: (line) => void written.push(line) });
  log.info("started");
  log.warn({ name: "home A", because: 'it is "down"', token: "s3cret" }, "record not replaced");
  return written.map((line) => line.replace(/\d\d:\d\d:\d\d(\.\d+Z)?/, "TIME"));
};

test.each(["text", "json"] as const)("the small log writes what the large one does: %s", (format) => {
  const small = lines(createSmallLog, format);
  expect(small).toEqual(lines(createLog, format));
  expect(small.join("")).not.toContain("s3cret");
});
