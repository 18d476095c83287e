import { asAscii, nameToUnicode } from "../../../src/core/names/unicode.ts";

/** Names are shown in Unicode and stored in ASCII; people type either. */

/** The name as the service stores it, from what somebody typed into a field or the address bar. */
export const keptName = (typed: string): string => asAscii(typed.trim()).toLowerCase();

/** Like `keptName`, for a full name, which may end with a dot. */
export const keptZone = (typed: string): string => keptName(typed).replace(/\.$/, "");

export const searchedText = (typed: string): string => typed.trim().toLowerCase().normalize("NFC");

/** Like `searchedText`, for a full name, which may end with a dot. */
export const searchedZone = (typed: string): string => searchedText(typed).replace(/\.$/, "");

/** Whether the name contains the text, in Unicode or ASCII. */
export const nameHolds = (name: string, text: string): boolean =>
  name.includes(text) || nameToUnicode(name).includes(text);
