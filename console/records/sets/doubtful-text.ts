import type { RecordType } from "../../../src/core/rdata/table.ts";
import { isQuotedText } from "./value-fields.ts";

/** What is most likely not meant in a text that is stored as it was typed, and what to do. */
export function doubtOf(type: RecordType, [typed = ""]: readonly string[]): string | undefined {
  const text = typed.trim();
  if (type !== "TXT" || isQuotedText(text)) return undefined;
  return doubts.find(([sign]) => sign.test(text))?.[1];
}

const doubts: readonly (readonly [sign: RegExp, told: string])[] = [
  [
    /^\S+\s.*\bTXT\s+[("]/is,
    "This looks like a whole line of a zone file. Only what stands behind TXT belongs here; the name has its own field.",
  ],
  [
    /^["“„”]|["“”]$|^'.*'$/s,
    "The quotes become part of the text. Leave them out, or put the whole text between one pair of straight ones.",
  ],
  [/\\[;"]/, "The backslashes become part of the text. Leave them out, or put the whole text between quotes."],
];
