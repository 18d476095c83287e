import { expect, test } from "vitest";
import { createLog } from "./log.ts";
import { createSmallLog } from "./small-log.ts";

const errors = [new Error("no netlink"), new TypeError("out of order", { cause: new Error("netlink") })];

const lines = (make: typeof createSmallLog, format: "text" | "json") => {
  const written: string[] = [];
  const log = make({ format, write: (line) => void written.push(line) });
  log.info("started");
  log.warn({ name: "home A", because: 'it is "down"', token: "s3cret" }, "record not replaced");
  log.warn({ from: "192.0.2.1", headers: { authorization: "s3cret", host: "x" }, tries: [1, 2] }, "call refused");
  for (const err of errors) log.error({ err }, "the kernel cannot be read");
  return written.map((line) => line.replace(/\d\d:\d\d:\d\d(\.\d+Z)?/, "TIME"));
};

test.each(["text", "json"] as const)("the small log writes what the large one does: %s", (format) => {
  const small = lines(createSmallLog, format);
  expect(small).toEqual(lines(createLog, format));
  expect(small.join("")).not.toContain("s3cret");
});
