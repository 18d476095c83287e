import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import { checkZone } from "../../core/records/check-zone.ts";
import { setsAfterSteps, setsFromLines, type ZoneLine, type ZoneStep } from "../../core/records/zone-lines.ts";
import type { Fault } from "../../core/result.ts";
import type { Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { newRecordId } from "./edit/new-id.ts";

/** What a primary server sent for a secondary zone. */
export type TransferredContent =
  | { readonly kind: "whole"; readonly serial: number; readonly lines: readonly ZoneLine[] }
  | { readonly kind: "steps"; readonly serial: number; readonly since: number; readonly steps: readonly ZoneStep[] };

export type StoredTransfer =
  | { readonly kind: "done" }
  /** The changes start from another version, or the zone is no longer secondary. */
  | { readonly kind: "does-not-fit" }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/** Makes the zone equal to its primary's version, including the serial, in one write that is in the change log like any other. */
export async function storeTransfer(
  store: RecordStore,
  { account, id }: Zone,
  content: TransferredContent,
  now: Instant,
): Promise<StoredTransfer> {
  const { serial } = content;
  const owners = content.kind === "whole" ? ("all" as const) : () => ownersIn(content.steps);
  const request = { account, at: { zone: id }, owners, actor: "transfer", now };
  const outcome = await store.write<StoredTransfer>(request, ({ zone, sets }) => {
    const how = { now, newId: newRecordId };
    const fits = zone.settings.mode === "secondary" && (content.kind === "whole" || zone.serial === content.since);
    const wanted = !fits
      ? undefined
      : content.kind === "whole"
        ? setsFromLines(content.lines, sets, how)
        : setsAfterSteps(content.steps, sets, zone.settings.ttl, how);
    if (wanted === undefined) return { wanted, result: { kind: "does-not-fit" } };
    const faults = checkZone(wanted);
    if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
    return { wanted, serial, result: { kind: "done" } };
  });
  return outcome ?? { kind: "does-not-fit" };
}

const ownersIn = (steps: readonly ZoneStep[]): readonly string[] => [
  ...new Set([apex, ...steps.flatMap(({ removed, added }) => [...removed, ...added].map((line) => line.owner))]),
];
