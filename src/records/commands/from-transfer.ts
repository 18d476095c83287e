import { importedNameFaults, usesNsec3 } from "../../core/dnssec/check-signed-zone.ts";
import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import { checkingZone } from "../../core/records/check-zone.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { applyingSteps, readingSets, type ZoneLine, type ZoneStep } from "../../core/records/zone-lines.ts";
import type { Fault } from "../../core/result.ts";
import type { Steps } from "../../core/steps.ts";
import { OverQuota, type Zone } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordStore, WriteAllRule, WriteView } from "../store/port.ts";

/** What a primary server sent for a secondary zone. */
export type TransferredContent =
  | { readonly kind: "whole"; readonly serial: number; readonly lines: readonly ZoneLine[] }
  | { readonly kind: "steps"; readonly serial: number; readonly since: number; readonly steps: readonly ZoneStep[] };

export type StoredTransfer =
  | { readonly kind: "done" }
  /** The changes start from another version, or the zone is no longer secondary. */
  | { readonly kind: "does-not-fit" }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/**
 * Makes the zone equal to its primary's version, including the serial, in one write that is in the change log like any
 * other.
 */
export async function storeTransfer(
  store: RecordStore,
  { account, id }: Zone,
  content: TransferredContent,
  now: Instant,
): Promise<StoredTransfer> {
  const parts = content.kind === "whole" ? content.lines.length : linesIn(content.steps);
  try {
    return await store.run({ kind: "transfer", account, zone: id, content, parts, now }, transferRule);
  } catch (error) {
    if (!(error instanceof OverQuota)) throw error;
    return { kind: "refused", faults: [{ code: "too-many-records", where: "zone", message: error.message }] };
  }
}

export type Transfer = {
  readonly kind: "transfer";
  readonly account: number;
  readonly zone: string;
  readonly content: TransferredContent;
  readonly parts: number;
  readonly now: Instant;
};

const linesIn = (steps: readonly ZoneStep[]): number =>
  steps.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0);

/** In steps: a zone may be as large as its primary likes. */
export function transferRule(command: Transfer): WriteAllRule<StoredTransfer> {
  const { account, zone: id, content, now } = command;
  const owners = content.kind === "whole" ? ("all" as const) : () => ownersIn(content.steps);
  const request = { account, at: { zone: id }, owners, actor: "transfer", now };
  const decide: WriteAllRule<StoredTransfer>["decide"] = function* ([view]) {
    const taken = view ? yield* taking(view, content, now) : doesNotFit;
    const { wanted, result } = taken;
    return { decisions: [wanted ? { wanted, serial: content.serial } : { wanted }], result };
  };
  return { kind: "write-all", requests: [request], decide };
}

type Taken = { readonly wanted: readonly RRset[] | undefined; readonly result: StoredTransfer };
const doesNotFit: Taken = { wanted: undefined, result: { kind: "does-not-fit" } };

function* taking({ zone, sets }: WriteView, content: TransferredContent, now: Instant): Steps<Taken> {
  const how = { now, newId: newRecordId };
  const { mode, ttl } = zone.settings;
  if (mode !== "secondary" || (content.kind === "steps" && zone.serial !== content.since)) return doesNotFit;
  const wanted =
    content.kind === "whole"
      ? yield* readingSets(content.lines, sets, how)
      : yield* applyingSteps(content.steps, sets, ttl, how);
  // Only a whole transfer shows all names of a zone that begins to use NSEC3.
  if (wanted === undefined || (content.kind === "steps" && usesNsec3(wanted) && !usesNsec3(sets))) return doesNotFit;
  // What makes other servers refuse only this zone is passed on, because its owner decides about it. But such a name
  // stops all zones of a secondary that runs NSD.
  const long = importedNameFaults(zone.name, sets, wanted).slice(0, 1);
  const faults = [...(yield* checkingZone(wanted)), ...long];
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  return { wanted, result: { kind: "done" } };
}

const ownersIn = (steps: readonly ZoneStep[]): readonly string[] => [
  ...new Set([apex, ...steps.flatMap(({ removed, added }) => [...removed, ...added].map((line) => line.owner))]),
];
