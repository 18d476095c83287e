import { family } from "../../process/metrics.ts";
import type { Status } from "./status.ts";

/** The text format of Prometheus, version 0.0.4. */
export function printMetrics(status: Status): string {
  const seconds = (iso: string | null) => (iso === null ? 0 : Date.parse(iso) / 1000);
  return [
    family("moor_update_rounds_total", "counter", "Rounds since the start.", [[{}, status.rounds]]),
    family("moor_update_changes_total", "counter", "Records replaced since the start.", [[{}, status.changes]]),
    family("moor_update_failures_total", "counter", "Writes that failed since the start.", [[{}, status.failures]]),
    family("moor_update_start_time_seconds", "gauge", "When the process started.", [[{}, seconds(status.started)]]),
    family("moor_update_last_round_seconds", "gauge", "When the last round ended.", [[{}, seconds(status.lastRound)]]),
    family(
      "moor_update_source_up",
      "gauge",
      "1 while the source can be read.",
      status.sources.map(({ source, up, how }) => [{ source, how }, Number(up)]),
    ),
    family(
      "moor_update_name_ok",
      "gauge",
      "1 while the record is up to date.",
      status.names.map(({ name, ok }) => [{ name }, Number(ok)]),
    ),
    family(
      "moor_update_name_paused",
      "gauge",
      "1 while the record is left alone because of `paused: true`.",
      status.names.map(({ name, paused = false }) => [{ name }, Number(paused)]),
    ),
    family(
      "moor_update_address_info",
      "gauge",
      "The address that was written last.",
      status.names.flatMap(({ name, stored }) => (stored === null ? [] : [[{ name, address: stored }, 1] as const])),
    ),
    family(
      "moor_update_stored_seconds",
      "gauge",
      "When the address was written.",
      status.names.flatMap(({ name, storedAt }) => (storedAt === null ? [] : [[{ name }, seconds(storedAt)] as const])),
    ),
  ].join("");
}
