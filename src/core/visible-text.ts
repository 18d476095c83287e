/**
 * Record values, interface names and messages of services are untrusted text: it must not control the terminal that
 * shows it, or look like other text.
 */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);

/** Visible text for a message: one line of at most 200 characters. */
export const printable = (text: string): string =>
  visible(text.slice(0, 2_000).replaceAll(/\s+/g, " ").trim()).slice(0, 200);

/** Characters that end a line in some zone file parser, or are not text; tabs are allowed. */
const controls = /[^\P{Control}\t]|[\u2028\u2029]/u;
const runsOfControls = new RegExp(`(?:${controls.source})+`, "gu");

export const hasControls = (text: string): boolean => controls.test(text);

/** For comments in zone files: what follows a line break would be read as a record. */
export const onOneLine = (text: string): string => text.replaceAll(runsOfControls, " ").trim();
