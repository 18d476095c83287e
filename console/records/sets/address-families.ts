import { parseAddress } from "../../../src/core/addresses/address.ts";
import type { SetDraft, ValueDraft } from "./set-draft.ts";

type AddressType = "A" | "AAAA";

/** An A or AAAA draft with addresses of the other family. */
export type Families = {
  /** The type that those addresses need. */
  readonly other: AddressType;
  /** The first of them. */
  readonly example: string;
  /** It has addresses of both families. */
  readonly isMixed: boolean;
  /** The draft as one for each family. */
  readonly drafts: readonly SetDraft[];
};

/** Undefined if every address has the right family. */
export function familiesIn(draft: SetDraft): Families | undefined {
  if (draft.type !== "A" && draft.type !== "AAAA") return undefined;
  const other = draft.type === "A" ? "AAAA" : "A";
  const strangers = draft.values.filter((value) => typeFor(value) === other);
  const [first] = strangers;
  if (first === undefined) return undefined;
  const own = draft.values.filter((value) => typeFor(value) !== other && textOf(value) !== "");
  return {
    other,
    example: textOf(first),
    isMixed: own.length > 0,
    drafts: [...(own.length > 0 ? [{ ...draft, values: own }] : []), { ...draft, type: other, values: strangers }],
  };
}

const textOf = ({ texts: [text = ""] }: ValueDraft): string => text.trim();

function typeFor(value: ValueDraft): AddressType | undefined {
  const address = parseAddress(textOf(value));
  return address && (address.family === "ipv4" ? "A" : "AAAA");
}
