import { expect, it } from "vitest";
import { LargeFiles } from "./large-files.ts";

it("large files are held one at a time, small ones never wait", async () => {
  const files = new LargeFiles();
  const large = "x".repeat(2 * 1024 * 1024);
  const release = await files.hold(1, large);
  let held = 0;
  const others = [1, 2].map(async (account) => {
    const done = await files.hold(account, large);
    held += 1;
    return done;
  });
  (await files.hold(1, "small"))();
  expect(held).toBe(0);
  release();
  const next = await Promise.race(others);
  expect(held).toBe(1);
  next();
  for (const done of await Promise.all(others)) done();
  expect(held).toBe(2);
});
