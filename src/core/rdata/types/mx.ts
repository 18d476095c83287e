import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";

export const mx = {
  fields: fieldRows(["preference", u16], ["exchange", hostName]),
  names: "compressed",
  todo: "an MX record takes a priority and a mail server, such as 10 mail.example.org.",
} satisfies TypeDefinition;
