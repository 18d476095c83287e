import { createSight } from "./actor.ts";
import { recordOperations } from "./record-operations.ts";
import type { RecordServiceOptions } from "./service-options.ts";
import { zoneOperations } from "./zone-operations.ts";

/**
 * What can be asked of the record service, whichever API it is asked through. Every operation takes the actor first and
 * answers only about what that one may see.
 */
export type RecordService = ReturnType<typeof createRecordService>;

export function createRecordService(options: RecordServiceOptions) {
  const sight = createSight(options.store, options.now);
  return {
    nameservers: options.nameservers,
    ...zoneOperations(options, sight),
    ...recordOperations(options, sight),
  };
}
