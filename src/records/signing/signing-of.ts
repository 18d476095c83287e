import { hash } from "node:crypto";
import { dnssecTypes, keyFlags } from "../../core/dnssec/codes.ts";
import { expectedDs } from "../../core/dnssec/lifecycle.ts";
import {
  type DigestType,
  type Ds,
  knownDigests,
  type ParentExpectation,
  readDs,
} from "../../core/dnssec/parent-view.ts";
import type { SigningParameters } from "../../core/dnssec/plan-signing.ts";
import { dnskeyData, dsData, nsec3ParamData, removeDs } from "../../core/dnssec/records.ts";
import type { Instant } from "../../core/instant.ts";
import type { MultiSignerKey, SigningKey, ZoneSigning } from "../model.ts";
import { renewal } from "./signer.ts";

/** A key of this zone, or of another server that also signs it. */
export type AnyKey = SigningKey | MultiSignerKey;

export const dnskeyOf = (key: AnyKey) =>
  dnskeyData(key.algorithm, Buffer.from(key.publicKey, "base64"), "flags" in key ? key.flags : keyFlags);
/** The DS record that the parent should have, with a SHA-256 digest (RFC 4509). */
export const dsOf = (key: AnyKey, zone: string) => dsWith(key, zone, 2);

const hashNames: Readonly<Record<DigestType, string>> = { 1: "sha1", 2: "sha256", 4: "sha384" };
const dsWith = (key: AnyKey, zone: string, type: DigestType) =>
  dsData(dnskeyOf(key), zone, type, (data) => hash(hashNames[type], data, "buffer"));

/** All DS records that a key can have at the parent. */
export const everyDsOf = (key: AnyKey, zone: string): readonly Ds[] =>
  knownDigests.flatMap((type) => readDs(dsWith(key, zone, type)) ?? []);

/** What the zone expects of the DS records at its parent. */
export function expectationOf(signing: ZoneSigning, zone: string): ParentExpectation {
  const { stage, keys, others = [] } = signing;
  const published: readonly AnyKey[] = [...keys.filter(({ shown }) => shown), ...others.filter(mayBeInParent)];
  return {
    keys: published.map((key) => everyDsOf(key, zone)),
    isSecure: !beforeOrAfter.has(stage),
    dsMatches: expectedDs(signing, (key) => everyDsOf(key, zone)),
  };
}

/** The stages in which the parent may have no DS record. */
const beforeOrAfter: ReadonlySet<ZoneSigning["stage"]> = new Set(["new", "new-parent", "leaving"]);

/** DS records refer only to keys that sign the DNSKEY set. */
export const mayBeInParent = ({ flags }: MultiSignerKey): boolean => flags === keyFlags;

/**
 * People should see to it that the parent has a DS record of this key, whether or not it has one. At the stage `new`,
 * CDS does not ask for it yet.
 */
export const isDsWanted = (key: SigningKey, stage: ZoneSigning["stage"]): boolean =>
  key.inParent && stage !== "leaving";

/** What the settings of a zone mean for signing it now. */
export function signingOf(settings: ZoneSigning, zone: string, now: Instant): SigningParameters {
  const cachedSigning = cached.get(settings);
  const signing = cachedSigning?.zone === zone ? cachedSigning : { zone, ...keysAndSets(settings, zone) };
  cached.set(settings, signing);
  return { ...signing, renewBefore: Math.floor(now / 1000) + renewal, now: Math.floor(now / 1000) };
}

/** A cache, because every write needs this. */
const cached = new WeakMap<ZoneSigning, { readonly zone: string } & ReturnType<typeof keysAndSets>>();

function keysAndSets({ denial, keys, stage, others = [] }: ZoneSigning, zone: string) {
  const shown = keys.filter((key) => key.shown);
  const inParent: readonly AnyKey[] = [...keys.filter((key) => key.inParent), ...others.filter(mayBeInParent)];
  const requests = stage === "new" ? nothing : requestsToParent(stage, inParent, zone);
  const apexSets = [
    { type: dnssecTypes.dnskey, data: [...shown, ...others].map(dnskeyOf) },
    { type: dnssecTypes.cds, data: requests.cds },
    { type: dnssecTypes.cdnskey, data: requests.cdnskey },
    { type: dnssecTypes.nsec3param, data: denial === "nsec3" ? [nsec3ParamData] : [] },
  ];
  return {
    denial,
    zoneKeys: keys.filter((key) => key.signs),
    keySetKeys: shown,
    apexSets: apexSets.filter(({ data }) => data.length > 0),
  };
}

/** Without CDS and CDNSKEY records, the parent changes nothing. */
const nothing = { cds: [], cdnskey: [] };

function requestsToParent(stage: ZoneSigning["stage"], keys: readonly AnyKey[], zone: string) {
  if (stage === "leaving") return { cds: [removeDs.cds], cdnskey: [removeDs.cdnskey] };
  return { cds: keys.map((key) => dsOf(key, zone)), cdnskey: keys.map(dnskeyOf) };
}
