import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { seconds, u32 } from "../fields/number.ts";

export const soa = {
  fields: fieldRows(
    ["primary", hostName],
    ["contact", hostName],
    ["serial", u32],
    ["refresh", seconds],
    ["retry", seconds],
    ["expire", seconds],
    ["minimum", seconds],
  ),
  names: "compressed",
  todo:
    "an SOA record takes primary nameserver, contact with a dot for @, serial, refresh, retry, expire and minimum, " +
    "such as ns1.example.org. hostmaster.example.org. 2026010100 86400 10800 3600000 3600",
} satisfies TypeDefinition;
