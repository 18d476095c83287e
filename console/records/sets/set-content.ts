import type { Rrset } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { typeName } from "../../../src/core/rdata/table.ts";
import { withoutSerial } from "./put-sets.ts";

type Content = Pick<Rrset, "type" | "ttl" | "labels"> & {
  readonly records: readonly { readonly value: string; readonly comment: string }[];
};

/** Everything that saving a set replaces, in a form that can be compared: labels have no order. */
export function contentOf(set: Content | undefined): string | undefined {
  if (set === undefined) return undefined;
  const records = set.records.map(({ value, comment }) => [withoutSerial(set.type, value), comment]);
  const labels = Object.entries(set.labels).map(([key, value]) => `${key}=${value}`);
  return JSON.stringify([records, set.ttl, labels.toSorted()]);
}

/** As shown to users: `www A`. */
export const setInWords = ({ name, type }: Pick<Rrset, "name" | "type">): string =>
  `${nameToUnicode(name)} ${typeName(type)}`;
