import type { TypeDefinition } from "../fields/field.ts";
import { characterString } from "../fields/text.ts";

export const hinfo = {
  code: 13,
  fields: [
    { name: "cpu", kind: characterString },
    { name: "os", kind: characterString },
  ],
  todo: 'a HINFO record takes two strings, machine and system, such as "ARM64" "Linux"',
} satisfies TypeDefinition;
