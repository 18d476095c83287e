import { expect, it } from "vitest";
import { type RecordsApi, write } from "./records-api.ts";

it("a write does not wait for its action for ever, and says that it is still running", async () => {
  const action = { id: 7, status: "running", error: null };
  const api: RecordsApi = { send: async () => ({ status: 201, body: { action } }), close: async () => {} };
  const { signal } = new AbortController();
  await expect(write(api, "POST", "/x", { signal, longest: 1 })).rejects.toThrow(
    "action 7 is still running after 0.001 seconds, and goes on",
  );
});
