import { type ParentFault, type ParentView, parentFault } from "../../../core/dnssec/parent-view.ts";
import type { Logger } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import { expectationOf } from "../signing-of.ts";
import { stageInWords } from "../signing-texts.ts";
import { noteParentFault, type SigningDuty } from "./advance-stage.ts";

/** What the last visit of a zone found at its parent. */
export type LastFault = { fault: string | undefined };

/** Resolvers are affected now, or soon. */
const urgent: ReadonlySet<ParentFault["kind"]> = new Set(["wrong-ds", "no-ds", "wrong-digest"]);

const messages: Readonly<Record<ParentFault["kind"], string>> = {
  "wrong-ds":
    "no DS record at the parent matches a key of the zone, so resolvers reject it; give the registrar the DS record that `moor dnssec status ZONE` shows",
  "no-ds":
    "the DS record of a secure zone has disappeared from the parent, so resolvers no longer validate the zone; if it was moved to another registrar, give that one the DS record that `moor dnssec status ZONE` shows",
  "wrong-digest":
    "a DS record at the parent names a key of the zone, but has another digest; correct it at the registrar before you remove another DS record",
  unverified:
    "the DS records of a zone could not be read from every server of the parent; no key is removed until they can",
  "other-algorithm":
    "the parent also has a DS record of an algorithm that no key of the zone has, and strict resolvers may reject the zone; remove that record at the registrar",
  differs: "some servers of the parent have the change that a zone waits for, others do not yet",
};

/**
 * Stores what is wrong at the parent, so that every node and command can report it, and logs it. What is not urgent is
 * stored when it was found twice: a lost datagram is not worth a change of the zone. Returns whether the zone was
 * changed.
 */
export async function noteParent(
  by: SigningDuty,
  zone: Zone,
  parent: ParentView,
  last: LastFault,
  log: Logger,
): Promise<boolean> {
  const { dnssec } = zone.settings;
  if (dnssec === undefined) return false;
  const stored = dnssec.parentFault;
  const fault = parentFault(parent, expectationOf(dnssec, zone.name));
  const isRepeated = fault !== undefined && last.fault === fault.text;
  last.fault = fault?.text;
  if (fault?.kind === stored?.kind && fault?.text === stored?.text) return false;
  if (fault !== undefined && !isRepeated && !(urgent.has(fault.kind) && fault.kind !== stored?.kind)) return false;
  if (!(await noteParentFault(by, zone, fault))) return false;
  const { stage, since } = dnssec;
  const facts = {
    zone: zone.name,
    stage,
    since: new Date(since),
    waitingFor: stageInWords(dnssec),
    found: fault?.text,
  };
  if (fault === undefined) log.info(facts, "the parent of a signed zone has the expected DS records again");
  else log[urgent.has(fault.kind) ? "error" : "warn"](facts, messages[fault.kind]);
  return true;
}
