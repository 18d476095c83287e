import { createTurns } from "../lib/limits/turns.ts";
import { bulkOperations } from "./commands/bulk-operations.ts";
import { dyndnsOperations } from "./commands/dyndns-operations.ts";
import { historyOperations } from "./commands/history.ts";
import { recordOperations } from "./commands/record-operations.ts";
import { changesOperations } from "./commands/set-changes.ts";
import { setOperations } from "./commands/set-operations.ts";
import { zoneFileOperations } from "./commands/zones/file-operations.ts";
import { grantOperations } from "./commands/zones/grants.ts";
import { zoneOperations } from "./commands/zones/operations.ts";
import { primaryServerOperations } from "./commands/zones/primary-servers.ts";
import { createChangeSettings } from "./commands/zones/settings.ts";
import type { RecordServiceOptions } from "./options.ts";
import { actionOperations } from "./queries/actions.ts";
import { createSight } from "./queries/sight.ts";
import { writesOperations } from "./queries/writes.ts";
import { signingOperations } from "./signing/life/signing-operations.ts";

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
