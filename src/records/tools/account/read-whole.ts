import type { Instant } from "../../../core/instant.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Zone } from "../../model.ts";
import type { WriteRule } from "../../store/port.ts";

/** Reads a zone with all its sets at one moment, as a write sees them, and changes nothing. */
export type ReadWhole = {
  readonly kind: "read-whole";
  readonly account: number;
  readonly zone: string;
  readonly now: Instant;
};

export type WholeZone = { readonly zone: Zone; readonly sets: readonly RRset[] };

export const readWholeRule = ({ account, zone: id, now }: ReadWhole): WriteRule<WholeZone> => ({
  kind: "write",
  request: { account, at: { zone: id }, owners: "all", actor: "export", now },
  decide: ({ zone, sets }) => ({ wanted: undefined, result: { zone, sets } }),
});
