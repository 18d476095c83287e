import type { RrsetsZone } from "../../../src/contract/rrsets.ts";

const keyOf = ({ id }: RrsetsZone): string => `moor-setup-closed-${id}`;

export const closeSetup = (zone: RrsetsZone): void => localStorage.setItem(keyOf(zone), "");

/** Two weeks: a delegation and the first records rarely take longer. */
const shownFor = 14 * 86_400_000;

/** Whether the zone's page offers the checklist; the settings always do. */
export const offersSetup = (zone: RrsetsZone, now: number): boolean =>
  zone.mode === "primary" && now - Date.parse(zone.created) < shownFor && localStorage.getItem(keyOf(zone)) === null;
