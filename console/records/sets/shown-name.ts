import { asAscii, nameToUnicode } from "../../../src/core/names/unicode.ts";

/** Names are shown in the letters of their language and kept in ASCII; people type either. */

/** As the service has it, from what somebody typed or put into the address bar. */
export const keptName = (typed: string): string => asAscii(typed.trim()).toLowerCase();

/** As `keptName`, of a whole name: a dot may end it. */
export const keptZone = (typed: string): string => keptName(typed).replace(/\.$/, "");

export const searchedText = (typed: string): string => typed.trim().toLowerCase().normalize("NFC");

/** As `searchedText`, of a whole name: a dot may end it. */
export const searchedZone = (typed: string): string => searchedText(typed).replace(/\.$/, "");

/** Whether a part of the name reads so, in either form. */
export const nameHolds = (name: string, text: string): boolean =>
  name.includes(text) || nameToUnicode(name).includes(text);
