import type { PoolClient } from "pg";
import { expect, it } from "vitest";
import { resultOf } from "./transaction.ts";

/**
 * A standby assigns no transaction ids: it refuses the request for one, and then everything else in the failed
 * transaction.
 */
const standby = {
  query: async (asked: string | { readonly text: string }) => {
    const text = typeof asked === "string" ? asked : asked.text;
    if (text === "BEGIN" || text === "ROLLBACK") return { rows: [] };
    throw text.includes("pg_current_xact_id")
      ? Object.assign(new Error("cannot assign transaction IDs during recovery"), { code: "25006" })
      : Object.assign(new Error("current transaction is aborted"), { code: "25P02" });
  },
} as unknown as PoolClient;

it("a transaction reports its first error, not those that follow from it", async () => {
  const done = resultOf(async (run) => ({ result: await run({ text: "SELECT 1" }) }), {
    withClient: (work) => work(standby),
    limit: 1_000,
    commitLimit: 1_000,
    mark: () => {
      throw new Error("no commit was expected");
    },
  });
  await expect(done).rejects.toMatchObject({ code: "25006" });
});

const fault = (code: string) => Object.assign(new Error(`fault ${code}`), { code });
const textOf = (asked: string | { readonly text: string }) => (typeof asked === "string" ? asked : asked.text);

/** The connection is lost during COMMIT. */
const lostInCommit = {
  query: async (asked: string | { readonly text: string }) => {
    if (textOf(asked) === "COMMIT") throw fault("ECONNRESET");
    return { rows: [{ xid: "7" }] };
  },
} as unknown as PoolClient;

/** COMMIT is not answered, as while the server waits for a standby that cannot be reached. */
function silentInCommit(): PoolClient {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  return {
    query: async (asked: string | { readonly text: string }) =>
      textOf(asked) === "COMMIT" ? await ended : { rows: [{ xid: "7" }] },
    connection: { stream: { destroy: () => reject(fault("ECONNRESET")) } },
  } as unknown as PoolClient;
}

function lostCommit(lookUp: (text: string) => unknown, first = lostInCommit) {
  let [clients, works] = [0, 0];
  const asking = {
    query: async (asked: string | { readonly text: string }) => lookUp(textOf(asked)),
  } as unknown as PoolClient;
  const done = resultOf(
    async () => {
      works += 1;
      return { result: "written", last: { text: "INSERT" } };
    },
    {
      withClient: (work) => work(clients++ === 0 ? first : asking),
      limit: 20,
      commitLimit: 20,
      mark: () => ({ leave: { text: "leave" }, find: { text: "find" }, free: () => undefined }),
    },
  );
  return { done, works: () => works };
}

it.each([
  ["has committed", 1, "written"],
  ["has not committed", 0, "ECONNRESET"],
])("a transaction whose commit got no answer is looked up: it %s", async (_, rowCount, expected) => {
  const { done } = lostCommit((text) => (text === "find" ? { rowCount } : { rows: [{ status: "committed" }] }));
  const ended = await done.then(
    ({ result }) => result,
    ({ code }) => code,
  );
  expect(ended).toBe(expected);
});

it.each([
  ["the connection is lost again", "ECONNRESET"],
  ["the look-up takes too long", "57014"],
  ["the look-up collides with another transaction", "40001"],
  ["the server has no room", "53300"],
])("a transaction whose commit got no answer is unknown, not refused or repeated, if %s", async (_, code) => {
  const { done, works } = lostCommit(() => {
    throw fault(code);
  });
  await expect(done).rejects.toThrow("the write may or may not have been saved");
  expect(works()).toBe(1);
});

it.each([
  ["has committed", 1, "written"],
  ["has not committed", 0, "ECONNRESET"],
])("a commit that is not answered in time is looked up on another connection: it %s", async (_, rowCount, expected) => {
  const lookUp = (text: string) => (text === "find" ? { rowCount } : { rows: [{ status: "committed" }] });
  const { done } = lostCommit(lookUp, silentInCommit());
  const ended = await done.then(
    ({ result }) => result,
    ({ code }) => code,
  );
  expect(ended).toBe(expected);
});

it("a commit that is not answered in time, and is still under way, is unknown", async () => {
  const { done } = lostCommit(() => ({ rows: [{ status: "in progress" }] }), silentInCommit());
  await expect(done).rejects.toThrow("the write may or may not have been saved");
});
