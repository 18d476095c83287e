import { createHash } from "node:crypto";
import { dnssecTypes } from "../../core/dnssec/codes.ts";
import type { Signing } from "../../core/dnssec/plan-signing.ts";
import { dnskeyData, dsData, nsec3ParamData, removeDs } from "../../core/dnssec/records.ts";
import type { Instant } from "../../core/instant.ts";
import type { SigningKey, ZoneSigning } from "../model.ts";
import { renewal } from "./signer.ts";

export const sha1 = (data: Uint8Array): Uint8Array => createHash("sha1").update(data).digest();
const sha256 = (data: Uint8Array): Uint8Array => createHash("sha256").update(data).digest();

export const dnskeyOf = ({ algorithm, publicKey }: SigningKey) =>
  dnskeyData(algorithm, Buffer.from(publicKey, "base64"));
export const dsOf = (key: SigningKey, zone: string) => dsData(dnskeyOf(key), zone, sha256);

/** What the settings of a zone mean for signing it now. */
export function signingOf({ denial, keys, stage }: ZoneSigning, zone: string, now: Instant): Signing {
  const shown = keys.filter((key) => key.shown);
  const inParent = keys.filter((key) => key.inParent);
  const wished =
    stage === "leaving"
      ? { cds: [removeDs.cds], cdnskey: [removeDs.cdnskey] }
      : { cds: inParent.map((key) => dsOf(key, zone)), cdnskey: inParent.map(dnskeyOf) };
  const apexSets = [
    { type: dnssecTypes.dnskey, data: shown.map(dnskeyOf) },
    { type: dnssecTypes.cds, data: wished.cds },
    { type: dnssecTypes.cdnskey, data: wished.cdnskey },
    { type: dnssecTypes.nsec3param, data: denial === "nsec3" ? [nsec3ParamData] : [] },
  ];
  return {
    denial,
    zoneKeys: keys.filter((key) => key.signs),
    keySetKeys: shown,
    apexSets: apexSets.filter(({ data }) => data.length > 0),
    renewBefore: Math.floor(now / 1000) + renewal,
  };
}
