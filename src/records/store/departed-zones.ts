import type { DatabaseSync } from "node:sqlite";
import { compareSerials, nextSerial } from "../../core/records/serial.ts";
import type { NewZone, Zone } from "../model.ts";

/**
 * The last serials of zones that were deleted. A zone made again under the same name goes on from there: a secondary that has
 * kept the old one would take a lower serial for nothing new.
 */
export function prepareDepartedZones(database: DatabaseSync) {
  const insert = database.prepare(
    "INSERT INTO departed_zones (name, serial) VALUES (?, ?) ON CONFLICT DO UPDATE SET serial = excluded.serial",
  );
  const select = database.prepare("SELECT serial FROM departed_zones WHERE name = ?");

  return {
    note: ({ name, serial }: Zone): void => {
      insert.run(name, serial);
    },
    serialFor: (zone: NewZone): number => {
      const last = select.get(zone.name) as { serial: number } | undefined;
      return serialAfter(last?.serial, zone);
    },
  };
}

/** `last`: of the zone of that name that was deleted. */
export const serialAfter = (last: number | undefined, { serial, created }: NewZone): number =>
  last === undefined || compareSerials(serial, last) === 1 ? serial : nextSerial(last, created);
