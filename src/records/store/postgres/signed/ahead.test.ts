import { afterAll, beforeAll, expect, it } from "vitest";
import { addressOf, type PostgresRig, startPostgresRig } from "../../../../../test/rig/records/postgres.ts";
import { openPostgres, type Postgres } from "../../../../lib/postgres/open.ts";
import { noLog } from "../../../../process/log.ts";
import { createAheadStore } from "./ahead.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

it("names ahead are known to be stored although the connection was lost during the commit", async () => {
  const url = await rig.preparedUrl();
  const store = await rig.open(url);
  const postgres = openPostgres(addressOf(url), noLog);
  // Everything is committed, but the answer of the last statement never arrives.
  const transact: Postgres["transact"] = async (work) => ({ ...(await postgres.transact(work)), last: undefined });
  const ahead = createAheadStore({ postgres: { ...postgres, read: postgres.read, transact }, reads: store });
  const number = await ahead.newNumber();
  const after = { owner: "@", chainKey: "", expires: 0, children: 0, types: [], generated: [] };
  expect(await ahead.putNames(number, [{ before: undefined, after }])).toBe(true);
  await ahead.abandon(number);
  expect(await ahead.putNames(number, [{ before: undefined, after }])).toBe(false);
  await postgres.close();
  await store.close();
});
