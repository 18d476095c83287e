import { afterAll, beforeAll } from "vitest";
import { addressOf, type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { describeWholeZones } from "../../../../test/rig/store/whole-zone.suite.ts";
import type { Fault } from "../../../core/result.ts";
import { checkStore } from "../../tools/check/check.ts";
import { readTables } from "../../tools/tables/open.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

const wholeZones: Parameters<typeof describeWholeZones>[1] = {
  denial: "nsec3",
  place: () => rig.preparedUrl(),
  copyOf: (url) => rig.freshUrl(url),
  // The usual limit of a statement is also that of an idle transaction, which signing must not reach.
  open: (url, signer) => rig.open(url, { signer }),
  faults: async (url) => {
    const tables = await readTables(
      { kind: "postgres", address: addressOf(url) },
      "look",
      AbortSignal.timeout(600_000),
    );
    const faults: Fault[] = [];
    try {
      const { signal } = new AbortController();
      await checkStore(tables, { fault: (fault) => void faults.push(fault), signal });
    } finally {
      await tables.close();
    }
    return faults;
  },
};

describeWholeZones("PostgreSQL", wholeZones);
