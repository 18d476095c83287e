import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

export const ptr = {
  code: 12,
  fields: [{ name: "host", kind: hostName }],
  todo: "a PTR record takes a host name, such as host.example.org. with a trailing dot",
} satisfies TypeDefinition;
