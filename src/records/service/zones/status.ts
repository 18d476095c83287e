import type { Instant } from "../../../core/instant.ts";
import { timersIn } from "../../../core/records/soa-timers.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import type { SecondaryState } from "../../store/transfer-keys.ts";

/** Whether a zone is answered from as it stands, is on its way to that, or cannot be. */
export type ZoneStatus = "ok" | "updating" | "error";

/** Milliseconds that a new secondary zone is given to come from its primary servers. */
const firstTransfer = 60_000;

/** Of each of the zones, in their order. */
export async function zoneStatuses(
  store: Pick<RecordStore, "secondaryStates">,
  zones: readonly Zone[],
  now: Instant,
): Promise<readonly ZoneStatus[]> {
  if (zones.every(({ settings }) => settings.mode === "primary")) return zones.map(() => "ok");
  const states = await store.secondaryStates(zones);
  return zones.map((zone) => statusOf(zone, states.get(zone.number), now));
}

function statusOf({ settings, created }: Zone, state: SecondaryState | undefined, now: Instant): ZoneStatus {
  if (settings.mode === "primary") return "ok";
  if (state === undefined) return now < created + firstTransfer ? "updating" : "error";
  return expiryOf(state) < now ? "error" : "ok";
}

/** After that it was too long without its primary servers (RFC 1034 section 4.3.5). */
export const expiryOf = ({ checked, soa }: SecondaryState): Instant => checked + timersIn(soa).expire * 1_000;
