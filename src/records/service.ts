import { createSight } from "./actor.ts";
import { bulkOperations } from "./bulk-operations.ts";
import { dyndnsOperations } from "./dyndns-operations.ts";
import { primaryServerOperations } from "./primary-server-operations.ts";
import { recordOperations } from "./record-operations.ts";
import { recordRules } from "./record-rules.ts";
import type { RecordServiceOptions } from "./service-options.ts";
import { settingsOperations } from "./settings-operations.ts";
import { zoneFileOperations } from "./zone-file-operations.ts";
import { zoneOperations } from "./zone-operations.ts";

/**
 * What can be asked of the record service, whichever API it is asked through. Every operation takes the actor first and
 * answers only about what that one may see.
 */
export type RecordService = ReturnType<typeof createRecordService>;

export function createRecordService(options: RecordServiceOptions) {
  const sight = createSight(options.store, options.now);
  const rules = recordRules(sight);
  const settings = settingsOperations(options, sight);
  return {
    nameservers: options.nameservers,
    ...zoneOperations(options, sight),
    ...recordOperations(options, sight, rules),
    ...bulkOperations(options, rules),
    ...zoneFileOperations(options, sight),
    ...settings,
    ...dyndnsOperations(options, sight),
    ...primaryServerOperations(options, sight, settings.changeSettings),
  };
}
