import type { Instant } from "../../core/instant.ts";
import { timersIn } from "../../core/records/soa-timers.ts";
import type { SecondaryState, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";

/** Whether a zone can be served, is about to be, or cannot be. */
export type ZoneStatus = "ok" | "updating" | "error";

/** Milliseconds that the first transfer of a secondary zone may take. */
const firstTransfer = 60_000;

/** The status of each zone, in the same order. */
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

/** Why a secondary zone is not, or soon will not be, served as it should be. */
export type SecondaryTrouble =
  | { readonly kind: "not-transferred" }
  | { readonly kind: "expired"; readonly since: Instant }
  | { readonly kind: "stale"; readonly checked: Instant; readonly expires: Instant };

/** The troubles of those zones that have one. */
export async function secondaryTroubles(
  store: Pick<RecordStore, "secondaryStates">,
  zones: readonly Zone[],
  now: Instant,
): Promise<readonly { readonly zone: Zone; readonly trouble: SecondaryTrouble }[]> {
  const states = await store.secondaryStates(zones);
  return zones.flatMap((zone) => {
    const trouble = troubleOf(zone, states.get(zone.number), now);
    return trouble === undefined ? [] : [{ zone, trouble }];
  });
}

function troubleOf(zone: Zone, state: SecondaryState | undefined, now: Instant): SecondaryTrouble | undefined {
  if (statusOf(zone, state, now) === "error")
    return state === undefined ? { kind: "not-transferred" } : { kind: "expired", since: expiryOf(state) };
  if (state === undefined) return undefined;
  // One refresh and several retries have failed.
  const { refresh, retry } = timersIn(state.soa);
  const isStale = now > state.checked + Math.max(refresh + 3 * retry, 600) * 1_000;
  return isStale ? { kind: "stale", checked: state.checked, expires: expiryOf(state) } : undefined;
}

/** When a secondary zone expires without contact to its primary servers (RFC 1034 section 4.3.5). */
export const expiryOf = ({ checked, soa }: SecondaryState): Instant => checked + timersIn(soa).expire * 1_000;
