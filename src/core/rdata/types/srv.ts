import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";

/** RFC 2782. */
export const srv = {
  fields: fieldRows(["priority", u16], ["weight", u16], ["port", u16], ["target", hostName]),
  names: "expanded",
  todo: "an SRV record takes priority, weight, port and host, such as 10 20 5060 sip.example.org.",
} satisfies TypeDefinition;
