import type { Instant } from "../core/instant.ts";
import { apex } from "../core/name.ts";
import type { RRset } from "../core/rrset.ts";
import { soaIn, timersIn } from "../core/soa-timers.ts";
import type { RecordStore, Zone } from "./store.ts";
import type { SecondaryState } from "./transfer-keys.ts";

/** Whether a zone is answered from as it stands, is on its way to that, or cannot be. */
export type ZoneStatus = "ok" | "updating" | "error";

/** Milliseconds that a new secondary zone is given to come from its primary servers. */
const firstTransfer = 60_000;

export async function zoneStatus(
  store: Pick<RecordStore, "secondaryState" | "sets">,
  zone: Zone,
  now: Instant,
): Promise<ZoneStatus> {
  if (zone.settings.mode === "primary") return "ok";
  const [state, sets] = await Promise.all([store.secondaryState(zone), store.sets(zone, { owner: apex, type: "SOA" })]);
  if (state === undefined) return now < zone.created + firstTransfer ? "updating" : "error";
  return expiryOf(state, sets) < now ? "error" : "ok";
}

/** After that it was too long without its primary servers (RFC 1034 section 4.3.5). */
export const expiryOf = ({ checked }: SecondaryState, sets: readonly RRset[]): Instant =>
  checked + timersIn(soaIn(sets)).expire * 1_000;
