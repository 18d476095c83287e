import type { TypeDefinition } from "./field.ts";
import { hostName } from "./field-name.ts";
import { u16 } from "./field-number.ts";

export const mx = {
  code: 15,
  fields: [
    { name: "preference", kind: u16 },
    { name: "exchange", kind: hostName },
  ],
  todo: "an MX record takes a priority and a mail server, such as 10 mail.example.org.",
} satisfies TypeDefinition;
