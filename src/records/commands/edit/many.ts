import type { Instant } from "../../../core/instant.ts";
import { keyOf, type RRset } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import type { RecordInZone } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { checkWrite } from "./check-write.ts";
import { type Edit, editingSets } from "./record.ts";

export type EditedMany =
  | { readonly kind: "done"; readonly wanted: readonly RRset[]; readonly records: readonly RecordInZone[] }
  /** The faults of each refused edit, by its index. */
  | { readonly kind: "refused"; readonly faults: ReadonlyMap<number, readonly Fault[]> };

/**
 * Applies all edits together. Only the result must be valid, so that two records can swap their values. With 10,000
 * edits, a step takes a few milliseconds.
 */
export function* editingMany(view: WriteView, edits: readonly Edit[], now: Instant): Steps<EditedMany> {
  const { wanted, recordOf } = yield* editingSets(view, edits, now);
  yield;
  const faults = checkWrite(view, wanted);
  yield;
  if (faults.length > 0) return { kind: "refused", faults: blame(faults, edits, wanted) };
  return { kind: "done", wanted, records: edits.map(recordOf) };
}

/** The edits that cause a fault: those with the duplicate value; otherwise all at the fault's name; otherwise all. */
function blame(
  faults: readonly Fault[],
  edits: readonly Edit[],
  after: readonly RRset[],
): ReadonlyMap<number, readonly Fault[]> {
  const kinds = Map.groupBy(new Map(faults.map((fault) => [`${fault.where} ${fault.code}`, fault])).values(), ownerIn);
  const twice = new Map(after.map((set) => [keyOf(set), valuesTwice(set)]));
  const blamed = new Map<number, readonly Fault[]>();
  for (const [i, { content }] of edits.entries()) {
    const key = keyOf(content);
    const own = (kinds.get(content.owner) ?? []).filter(
      (fault) => fault.code !== "duplicate-value" || (fault.where === key && twice.get(key)?.has(content.rdata)),
    );
    const all = [...own, ...(kinds.get(undefined) ?? [])];
    if (all.length > 0) blamed.set(i, all);
  }
  return blamed.size > 0 ? blamed : new Map(edits.map((_, i) => [i, faults]));
}

/** For a fault whose place is the key of a set. */
const ownerIn = ({ where }: Fault): string | undefined =>
  where.includes(" ") ? where.slice(0, where.lastIndexOf(" ")) : undefined;

function valuesTwice(set: RRset): ReadonlySet<string> {
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const { rdata } of set.records) (seen.has(rdata) ? twice : seen).add(rdata);
  return twice;
}
