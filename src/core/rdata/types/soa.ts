import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { seconds, u32 } from "../fields/number.ts";

export const soa = {
  code: 6,
  fields: [
    { name: "primary", kind: hostName },
    { name: "contact", kind: hostName },
    { name: "serial", kind: u32 },
    { name: "refresh", kind: seconds },
    { name: "retry", kind: seconds },
    { name: "expire", kind: seconds },
    { name: "minimum", kind: seconds },
  ],
  todo:
    "an SOA record takes primary nameserver, contact with a dot for @, serial, refresh, retry, expire and minimum, " +
    "such as ns1.example.org. hostmaster.example.org. 2026010100 86400 10800 3600000 3600",
} satisfies TypeDefinition;
