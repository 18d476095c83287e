import { createTurns } from "../../process/turns.ts";
import { actionOperations } from "./actions.ts";
import { bulkOperations } from "./bulk-operations.ts";
import { dyndnsOperations } from "./dyndns-operations.ts";
import { historyOperations } from "./history.ts";
import type { RecordServiceOptions } from "./options.ts";
import { recordOperations } from "./record-operations.ts";
import { changesOperations } from "./set-changes.ts";
import { setOperations } from "./set-operations.ts";
import { createSight } from "./sight.ts";
import { writesOperations } from "./writes.ts";
import { zoneFileOperations } from "./zones/file-operations.ts";
import { grantOperations } from "./zones/grants.ts";
import { zoneOperations } from "./zones/operations.ts";
import { primaryServerOperations } from "./zones/primary-servers.ts";
import { createChangeSettings } from "./zones/settings.ts";
import { signingOperations } from "./zones/signing.ts";

/**
 * The operations of the record service, for all APIs. Every operation takes the actor first and returns only what that actor may see.
 */
export type RecordService = ReturnType<typeof createRecordService>;

export function createRecordService(options: RecordServiceOptions) {
  const turns = createTurns();
  const sight = createSight(options.store, options.now, turns);
  const changeSettings = createChangeSettings(options, sight);
  return {
    nameservers: options.nameservers,
    /** Accounts take turns with work that takes long. */
    turns,
    ...zoneOperations(options, sight, turns, changeSettings),
    ...setOperations(options, sight, turns),
    ...changesOperations(options),
    ...historyOperations(options, sight, turns),
    ...writesOperations(options, sight, turns),
    ...grantOperations(options, sight),
    ...actionOperations(options),
    ...recordOperations(options, sight, turns),
    ...bulkOperations(options, sight, turns),
    ...zoneFileOperations(options, sight, turns),
    ...dyndnsOperations(options, sight),
    ...primaryServerOperations(options, sight, changeSettings),
    ...signingOperations(options, sight),
  };
}
