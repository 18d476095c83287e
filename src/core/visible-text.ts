/**
 * Values of records, names of interfaces and what services say are others' words: none of them may move the cursor of the terminal
 * that it is shown on, or read as another.
 */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);

/** The same for a message: one line, and not without end. */
export const printable = (text: string): string =>
  visible(text.slice(0, 2_000).replaceAll(/\s+/g, " ").trim()).slice(0, 200);

/** Characters that end a line in some reader of zone files, or are not text at all; tabs are allowed. */
const controls = /[^\P{Control}\t]|[\u2028\u2029]/u;
const runsOfControls = new RegExp(`(?:${controls.source})+`, "gu");

export const hasControls = (text: string): boolean => controls.test(text);

/** For comments in zone files: what follows a line break would be read as a record. */
export const onOneLine = (text: string): string => text.replaceAll(runsOfControls, " ").trim();
