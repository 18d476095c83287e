import type { DatabaseSync } from "node:sqlite";
import { finish } from "../../../../core/steps.ts";
import { sqliteSql } from "../../../../lib/sqlite/run-sql.ts";
import type { AsideStore } from "../../aside-store.ts";
import type { RecordStore } from "../../port.ts";
import type { SignedZones } from "../../signed-zones.ts";
import { createSqlAsideReads } from "../../sql/aside-reads.ts";
import { createSqlReads } from "../../sql/read.ts";
import type { WriteConnection } from "../write-connection.ts";
import type { Commit } from "../write-queue.ts";

type AsideStoreOptions = {
  readonly main: WriteConnection;
  /** A connection with a small cache: each row of a large zone is needed once. */
  readonly secondConnection: DatabaseSync;
  readonly commit: Commit;
  /** Called with the number of names that were written. */
  readonly wrote: (count: number) => void;
  readonly signedZones: Pick<SignedZones, "encryptedKeys">;
};

export function createAsideStore({
  main,
  secondConnection,
  commit,
  wrote,
  signedZones,
}: AsideStoreOptions): AsideStore {
  const reads = sqliteSql(secondConnection);
  const noZone: RecordStore["zoneBy"] = async () => undefined;
  const { signedNames } = main;
  return {
    ...createSqlAsideReads(reads),
    setKeysAfter: createSqlReads(reads, noZone).setKeysAfter,
    encryptedKeys: signedZones.encryptedKeys,
    lastChange: async () => main.read.lastChange(),
    namesNear: async (zone) => ({ ...signedNames().chainOf(zone), at: (owner) => signedNames().at(zone, owner) }),
    newNumber: () => commit(() => signedNames().reserve(Date.now())),
    putNames: async (number, names) => {
      const isDone = await commit(() => {
        const isReserved = signedNames().touch(number, Date.now());
        if (isReserved) finish(signedNames().writing(number, names));
        return isReserved;
      });
      wrote(names.length);
      return isDone;
    },
    abandon: (number) => commit(() => signedNames().deleteLater(number, "names")),
  };
}
