import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { characterString } from "../fields/text.ts";

export const hinfo = {
  fields: fieldRows(["cpu", characterString], ["os", characterString]),
  todo: 'a HINFO record takes two strings, machine and system, such as "ARM64" "Linux"',
} satisfies TypeDefinition;
