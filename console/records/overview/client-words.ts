import { counted } from "../../shared/counted.ts";

/** The state of a dynamic name that this updater does not have. */
export const byOtherClient = (changes: number): string =>
  `kept by another client${changes === 0 ? "" : `, ${counted(changes, "address change")}`}`;
