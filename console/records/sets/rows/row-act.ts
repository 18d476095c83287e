import type { Rrset } from "../../../../src/contract/rrsets.ts";

/** What a user can do in a row. */
export type RowAct =
  | { readonly kind: "select"; readonly set: Rrset; readonly index: number; readonly isRange: boolean }
  | { readonly kind: "edit"; readonly set: Rrset; readonly value: string }
  | { readonly kind: "menu"; readonly set: Rrset; readonly button: HTMLElement }
  | { readonly kind: "type"; readonly text: string }
  | { readonly kind: "save" }
  | { readonly kind: "leave" };

/** One value that is edited in the table. */
export type Editing = {
  /** The set as it was when the editing began. */
  readonly set: Rrset;
  /** As stored. */
  readonly value: string;
  readonly text: string;
  readonly fault: string | undefined;
  readonly isSaving: boolean;
};
