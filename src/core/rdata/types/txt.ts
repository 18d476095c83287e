import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { characterStrings } from "../fields/text.ts";

export const txt = {
  fields: fieldRows(["strings", characterStrings]),
  todo: 'a TXT record takes one or more strings of at most 255 bytes, such as "v=spf1 -all"',
} satisfies TypeDefinition;
