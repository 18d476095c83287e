import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";

/** RFC 1183 section 2.2. */
export const rp = {
  fields: fieldRows(["mailbox", hostName], ["text", hostName]),
  names: "expanded",
  todo:
    "an RP record takes a mailbox (with a dot instead of @) and the name of a TXT record (a single dot for none), " +
    "such as admin.example.org. people.example.org.",
} satisfies TypeDefinition;
