import { dnssecTypes } from "../../core/dnssec/codes.ts";
import type { Stage } from "../../core/dnssec/lifecycle.ts";
import type { ParentFault } from "../../core/dnssec/parent-view.ts";
import type { ZoneSigning } from "../model.ts";
import { type AnyKey, dnskeyOf, dsOf } from "./signing-of.ts";

/** What each stage means, for people. */
export const stageWords: Readonly<Record<Stage, string>> = {
  new: "signed; waiting until unsigned records have expired from caches before the parent gets the DS record",
  "new-parent": "waiting for the DS record at the parent",
  secure: "the parent has the DS record",
  "roll-show": "the new key is published; waiting until DNSKEY sets without it have expired from caches",
  "roll-parent": "waiting until the parent has replaced the DS record of the old key with that of the new key",
  "roll-sign": "the new key signs; waiting until older signatures have expired from caches",
  "algorithm-sign": "the new key signs too; waiting until records without its signatures have expired from caches",
  "algorithm-show": "the new key is published; waiting until DNSKEY sets without it have expired from caches",
  "algorithm-parent": "waiting until the parent has replaced the DS record of the old key with that of the new key",
  "algorithm-hide": "the old key is no longer published, but still signs; waiting until it has expired from caches",
  leaving: "waiting until the parent has removed the DS record",
};

type Told = Pick<ZoneSigning, "stage" | "parentSince" | "parentFault">;

/**
 * What a zone waits for. Once the parent has made the wanted change (`parentSince`), the zone waits only for caches.
 */
export function stageInWords({ stage, parentSince, parentFault }: Told): string {
  if (stage === "secure" && (parentFault?.kind === "wrong-ds" || parentFault?.kind === "no-ds"))
    return `the zone was secure, but now ${parentFault.text}`;
  if (parentSince === undefined) return stageWords[stage];
  if (stage === "leaving") return "the parent has no DS record now; waiting until the old one has expired from caches";
  return "the parent has replaced the DS record; waiting until the old one has expired from caches";
}

/** What is wrong at the parent, what follows from it, and what to do. */
export const faultInWords = ({ kind, text }: ParentFault): string => `${text}${consequences[kind]}`;

const consequences: Readonly<Record<ParentFault["kind"], string>> = {
  "wrong-ds": ", so resolvers reject the zone; give the registrar the DS record that the status shows",
  "no-ds":
    ", so resolvers do not validate the zone; if it was moved to another registrar, give that one the DS record that the status shows",
  "wrong-digest": "; correct it at the registrar before you remove another DS record",
  unverified: "; no key is removed until every server of the parent has answered",
  differs: "; waiting until all its servers have",
  "other-algorithm": ", which strict resolvers do not accept; remove it at the registrar",
};

/** The fields that registrars' forms ask for. */
export function dsParts(key: AnyKey, zone: string) {
  const digest = Buffer.from(dsOf(key, zone).subarray(4)).toString("hex").toUpperCase();
  return { tag: key.tag, algorithm: key.algorithm, digestType: 2, digest };
}

export const dsText = (key: AnyKey, zone: string): string =>
  `${zone}. 3600 IN DS ${Object.values(dsParts(key, zone)).join(" ")}`;

export const dnskeyText = (key: AnyKey): string => apexValue(dnssecTypes.dnskey, dnskeyOf(key));

/** The value of a DNSKEY, CDS or CDNSKEY record. */
export function apexValue(type: number, data: Uint8Array): string {
  const [a = 0, b = 0, c, d] = data;
  const rest = Buffer.from(data.subarray(4));
  const text = type === dnssecTypes.cds ? rest.toString("hex").toUpperCase() : rest.toString("base64");
  return `${(a << 8) | b} ${c} ${d} ${text}`;
}
