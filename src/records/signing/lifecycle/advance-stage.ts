import { nextStage } from "../../../core/dnssec/lifecycle.ts";
import type { ParentFault, ParentView } from "../../../core/dnssec/parent-view.ts";
import type { Instant } from "../../../core/instant.ts";
import { wholeAccount } from "../../../core/may.ts";
import type { Zone, ZoneSigning } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { everyDsOf } from "../signing-of.ts";
import { changeSigningRule, type SigningEdit } from "./change-signing.ts";

/** The service itself, which changes signed zones as a duty. */
export type SigningDuty = { readonly store: RecordStore; readonly now: Instant };

/** Moves on to the next stage if it is time; otherwise undefined. */
export async function advanceStage(
  by: SigningDuty,
  zone: Zone,
  parent: ParentView,
  highestTtl: number,
): Promise<ZoneSigning | "unsigned" | undefined> {
  const { dnssec } = zone.settings;
  const next =
    dnssec && nextStage(dnssec, parent, { now: by.now, highestTtl, dsOf: (key) => everyDsOf(key, zone.name) });
  if (dnssec === undefined || next === undefined) return undefined;
  const { stage, since, denial } = dnssec;
  const after = next === "gone" ? next : { ...next, denial };
  if (!(await changed(by, zone, { kind: "next-stage", at: { stage, since }, next: after }))) return undefined;
  return after === "gone" ? "unsigned" : after;
}

/** Whether it was noted. Without a fault, nothing is wrong any more. */
export const noteParentFault = (by: SigningDuty, zone: Zone, fault: ParentFault | undefined): Promise<boolean> =>
  changed(by, zone, { kind: "note-fault", fault });

async function changed({ store, now }: SigningDuty, zone: Zone, edit: SigningEdit): Promise<boolean> {
  const actor = { account: zone.account, label: "moor", scope: wholeAccount };
  const command = { actor, at: { number: zone.number }, edit, owners: "apex", now } as const;
  const acted = await store.run({ kind: "change-signing", ...command }, changeSigningRule);
  return typeof acted !== "string" && acted.result.kind === "done";
}
