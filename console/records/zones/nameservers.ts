import type { RrsetsZone } from "../../../src/contract/rrsets.ts";

/** A service that was started without nameservers uses names under `invalid` (RFC 6761), which no registrar accepts. */
export const nameserversOf = ({ authoritative_nameservers: { assigned } }: RrsetsZone): readonly string[] =>
  assigned.filter((name) => !/\.invalid\.?$/.test(name));
