import type { Ds, ParentView } from "../../../src/core/dnssec/parent-view.ts";
import { type AnyKey, everyDsOf } from "../../../src/records/signing/signing-of.ts";

/** The DS record of a key with a SHA-256 digest. */
export const dsAt = (zone: string, key: AnyKey): readonly Ds[] =>
  everyDsOf(key, zone).filter(({ digestType }) => digestType === 2);

/** A DS record that names the key, but has the digest of something else. */
export const wrongDsAt = (zone: string, key: AnyKey): readonly Ds[] =>
  dsAt(zone, key).map((ds) => ({ ...ds, digest: "0".repeat(64) }));

/** A parent with one server for each list of DS records: ns1.parent.test, ns2.parent.test, and so on. */
export const parentWith = (...servers: readonly (readonly Ds[])[]): ParentView =>
  servers.map((ds, i) => ({ server: `ns${i + 1}.parent.test`, ds, ttl: 60 }));
