import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

export const ptr = {
  fields: fieldRows(["host", hostName]),
  names: "compressed",
  todo: "a PTR record takes a host name, such as host.example.org. with a trailing dot",
} satisfies TypeDefinition;
