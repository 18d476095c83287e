import { expect, it } from "vitest";
import { type Request, RequestProblem } from "../../../shared/live/request.ts";
import { undoWrites } from "./undo-writes.ts";

/** Undoes the writes 41, 42 and 43; the service answers with an error at this request. */
async function undo(failsAt?: number, error: Error = new Error("it is away")) {
  const sent: string[] = [];
  const request = (async (_method, path) => {
    if (sent.push(path.replace("/v1/zones/example.org/history/", "")) === failsAt) throw error;
  }) as Request;
  const failure = await undoWrites(request, "example.org", [41, 42, 43]).then(() => undefined, String);
  return { sent, failure };
}

it("writes are undone the latest first", async () => {
  expect(await undo()).toEqual({ sent: ["43/undo", "42/undo", "41/undo"], failure: undefined });
});

it.for([
  [
    "later change",
    1,
    new RequestProblem(409, "backup A changed again", "conflict"),
    "Not undone, to keep a later change",
  ],
  ["other error", 1, new Error("it is away"), "Error: it is away"],
  ["error after some were undone", 3, new Error("it is away"), "Only 2 of 3 writes undone: it is away"],
] as const)("an undo that fails says what was undone: %s", async ([, at, error, words]) => {
  const { sent, failure } = await undo(at, error);
  expect(sent).toHaveLength(at);
  expect(failure).toContain(words);
});
