import { expect, it } from "vitest";
import { createCatchUp } from "./catch-up.ts";

it("has nobody wait when nothing is coming", () => {
  const catchUp = createCatchUp(1_000);
  expect(catchUp.wait()).toBeUndefined();
  catchUp.hear({ kind: "coming" });
  catchUp.hear({ kind: "replaced", zone: "example.org" });
  catchUp.hear({ kind: "caught-up" });
  expect(catchUp.wait()).toBeUndefined();
});

it("holds everybody until all has been told", async () => {
  const catchUp = createCatchUp(1_000);
  catchUp.hear({ kind: "coming" });
  const order: string[] = [];
  const waits = ["a", "b"].map(async (who) => {
    await catchUp.wait();
    order.push(who);
  });
  catchUp.hear({ kind: "coming" });
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  catchUp.hear({ kind: "caught-up" });
  await Promise.all(waits);
  expect(order).toEqual(["a", "b"]);
  expect(catchUp.wait()).toBeUndefined();
});

it("gives up on what is never told", async () => {
  const catchUp = createCatchUp(5);
  catchUp.hear({ kind: "coming" });
  await expect(catchUp.wait()).rejects.toThrow("within 5 ms");
  catchUp.hear({ kind: "caught-up" });
  expect(catchUp.wait()).toBeUndefined();
});
