import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { readableValue } from "../../../../src/core/rdata/rdata.ts";
import { counted } from "../../../shared/counted.ts";
import { setInWords } from "../set-content.ts";
import { isSingle } from "../set-draft.ts";
import { shownValue } from "../shown-value.ts";

const shown = 3;

/** The label of the button that saves. */
export function joinInWords(set: Rrset): string {
  if (isSingle(set.type)) return "Replace the existing value";
  return set.records.length === 1 ? "Add as a second value" : `Add to the ${set.records.length} existing values`;
}

/** Says that the name already has records of this type, and opens them. */
export function Existing({ set, onOpen }: { readonly set: Rrset; readonly onOpen: () => void }) {
  const values = set.records.map(({ value }) => shownValue(readableValue(set.type, value)));
  const rest = values.length - shown;
  return (
    <div className="note" role="status" style={{ margin: 0 }}>
      <b>{setInWords(set)}</b> already has {counted(set.records.length, "value")}:{" "}
      <span className="mono breaks">{values.slice(0, shown).join(" · ")}</span>
      {rest > 0 && ` and ${rest} more`}
      <br />
      {whatHappens(set)}{" "}
      <button type="button" className="as-link" onClick={onOpen}>
        Open {setInWords(set)} with this value
      </button>
    </div>
  );
}

function whatHappens({ protection, type }: Rrset): string {
  if (protection.change) return "It is protected: open it to turn the protection off.";
  if (isSingle(type)) return "A name has only one, so yours replaces it.";
  return "Yours is added as another value.";
}
