import type { RecordType } from "../../../src/core/rdata/table.ts";
import { isQuotedText } from "./value-fields.ts";

/** A warning about a text that is stored as typed but was probably meant differently. */
export function doubtOf(type: RecordType, [typed = ""]: readonly string[]): string | undefined {
  const text = typed.trim();
  if (type !== "TXT" || isQuotedText(text)) return undefined;
  return doubts.find(([sign]) => sign.test(text))?.[1];
}

const doubts: readonly (readonly [sign: RegExp, warning: string])[] = [
  [
    /^\S+\s.*\bTXT\s+[("]/is,
    "This looks like a whole line of a zone file. Enter only the part after TXT; the name has its own field.",
  ],
  [
    /^["“„”]|["“”]$|^'.*'$/s,
    "The quotes become part of the text. Remove them, or put the whole text in one pair of straight quotes.",
  ],
  [/\\[;"]/, "The backslashes become part of the text. Remove them, or put the whole text in quotes."],
];
