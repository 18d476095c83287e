import { actionOperations } from "./actions.ts";
import { createSight } from "./actor.ts";
import { bulkOperations } from "./bulk-operations.ts";
import { dyndnsOperations } from "./dyndns-operations.ts";
import { primaryServerOperations } from "./primary-server-operations.ts";
import { recordOperations } from "./record-operations.ts";
import { recordRules } from "./record-rules.ts";
import { changesOperations } from "./rrsets-changes.ts";
import { historyOperations } from "./rrsets-history.ts";
import { rrsetsZoneOperations } from "./rrsets-zones.ts";
import type { RecordServiceOptions } from "./service-options.ts";
import { setOperations } from "./set-operations.ts";
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
    /** Zones as sets of records, with actions and a history. */
    rrsets: {
      ...rrsetsZoneOperations(options, sight),
      ...setOperations(options, sight),
      ...changesOperations(options, sight),
      ...historyOperations(options, sight),
      ...actionOperations(options),
    },
    ...zoneOperations(options, sight),
    ...recordOperations(options, sight, rules),
    ...bulkOperations(options, rules),
    ...zoneFileOperations(options, sight),
    ...settings,
    ...dyndnsOperations(options, sight),
    ...primaryServerOperations(options, sight, settings.changeSettings),
  };
}
