import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";

/** RFC 2782. */
export const srv = {
  code: 33,
  fields: [
    { name: "priority", kind: u16 },
    { name: "weight", kind: u16 },
    { name: "port", kind: u16 },
    { name: "target", kind: hostName },
  ],
  todo: "an SRV record takes priority, weight, port and host, such as 10 20 5060 sip.example.org.",
} satisfies TypeDefinition;
