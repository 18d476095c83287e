import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

export const cname = {
  fields: fieldRows(["target", hostName]),
  names: "compressed",
  todo: "a CNAME record takes the name it is an alias for, such as host.example.org. with a trailing dot",
} satisfies TypeDefinition;
