import { FairSchedule } from "../lib/limits/fair-schedule.ts";
import { bulkOperations } from "./commands/bulk-operations.ts";
import { dyndnsOperations } from "./commands/dyndns-operations.ts";
import { historyOperations } from "./commands/history.ts";
import { recordOperations } from "./commands/record-operations.ts";
import { changesOperations } from "./commands/set-changes.ts";
import { setOperations } from "./commands/set-operations.ts";
import { zoneFileOperations } from "./commands/zones/file-operations.ts";
import { grantOperations } from "./commands/zones/grants.ts";
import { LargeFiles } from "./commands/zones/large-files.ts";
import { zoneOperations } from "./commands/zones/operations.ts";
import { primaryServerOperations } from "./commands/zones/primary-servers.ts";
import { createChangeSettings } from "./commands/zones/settings.ts";
import { frontOperations } from "./front/operations.ts";
import type { RecordServiceOptions } from "./options.ts";
import { actionOperations } from "./queries/actions.ts";
import { createPermittedView } from "./queries/permitted-view.ts";
import { writesOperations } from "./queries/writes.ts";
import { signingOperations } from "./signing/lifecycle/signing-operations.ts";

/**
 * The operations of the record service, for all APIs. Every operation takes the actor first and returns only what that
 * actor may see.
 */
export type RecordService = ReturnType<typeof createRecordService>;

export function createRecordService(options: RecordServiceOptions) {
  const schedule = new FairSchedule();
  const permitted = createPermittedView(options.store, options.now, schedule);
  const changeSettings = createChangeSettings(options, permitted);
  const files = new LargeFiles();
  const zones = zoneOperations(options, permitted, { schedule, files }, changeSettings);
  return {
    nameservers: options.nameservers,
    /** Accounts take turns with work that takes long. */
    schedule,
    ...zones,
    ...setOperations(options, permitted, schedule),
    ...changesOperations(options),
    ...historyOperations(options, permitted, schedule),
    ...writesOperations(options, permitted, schedule),
    ...grantOperations(options, permitted),
    ...actionOperations(options),
    ...recordOperations(options, permitted, schedule),
    ...bulkOperations(options, permitted, schedule),
    ...zoneFileOperations(options, permitted, { schedule, files }),
    ...dyndnsOperations(options, permitted),
    ...primaryServerOperations(options, permitted, schedule, changeSettings),
    ...signingOperations(options, permitted),
    ...frontOperations(options, permitted, zones.createZone),
  };
}
