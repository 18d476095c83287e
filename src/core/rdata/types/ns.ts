import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

export const ns = {
  fields: fieldRows(["host", hostName]),
  names: "compressed",
  todo: "an NS record takes the name of a nameserver, such as ns1.example.org. with a trailing dot",
} satisfies TypeDefinition;
