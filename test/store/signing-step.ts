import type { Stage } from "../../src/core/dnssec/lifecycle.ts";
import { advanceStage } from "../../src/records/signing/lifecycle/advance-stage.ts";
import type { Signer } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { dsAt, parentWith } from "../rig/records/parent-with.ts";
import { rollKey, signZone, unsignZone } from "../rig/records/sign.ts";

const day = 86_400_000;
const otherThan = { 13: 15, 15: 13 } as const;

/**
 * Takes a zone to its next stage, towards the target. The parent acts on every CDS record, and the clock is fast.
 * Returns the stage.
 */
export async function takeSigningStep(
  store: RecordStore,
  signer: Signer,
  name: string,
  target: string,
): Promise<Stage | "unsigned"> {
  const zone = await store.zoneHolding(name);
  if (zone === undefined) throw new Error(`there is no zone ${name}`);
  const { dnssec } = zone.settings;
  // Long enough for what each stage waits for, and never later than now: signatures must be valid by the real clock,
  // too.
  const next = dnssec === undefined ? Date.now() - 11 * day : (dnssec.parentSince ?? dnssec.since + 0.06 * day);
  const now = dnssec?.parentSince === undefined ? next : next + 1.01 * day;
  const by = { store, actor: "test", now };
  const [key] = dnssec?.keys ?? [];
  if (dnssec === undefined || key === undefined) await signZone(by, zone, { algorithm: 13, denial: "nsec" }, signer);
  else if (dnssec.stage === "secure" && (!/^(roll|algorithm)-/.test(target) || now > Date.now() - 6 * day))
    await unsignZone(by, zone);
  else if (dnssec.stage === "secure")
    await rollKey(by, zone, target.startsWith("roll-") ? undefined : otherThan[key.algorithm], signer);
  else {
    const ds = ["new", "leaving"].includes(dnssec.stage) ? [] : dnssec.keys.filter(({ inParent }) => inParent);
    await advanceStage(by, zone, parentWith(ds.flatMap((each) => dsAt(name, each))), 60);
  }
  return (await store.zoneHolding(name))?.settings.dnssec?.stage ?? "unsigned";
}
