import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";

export const mx = {
  code: 15,
  fields: [
    { name: "preference", kind: u16 },
    { name: "exchange", kind: hostName },
  ],
  todo: "an MX record takes a priority and a mail server, such as 10 mail.example.org.",
} satisfies TypeDefinition;
