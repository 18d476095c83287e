import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

export const ns = {
  code: 2,
  fields: [{ name: "host", kind: hostName }],
  todo: "an NS record takes the name of a nameserver, such as ns1.example.org. with a trailing dot",
} satisfies TypeDefinition;
