import { ipv4 } from "../fields/address.ts";
import { fieldRows, type TypeDefinition } from "../fields/field.ts";

export const a = {
  fields: fieldRows(["address", ipv4]),
  todo: "an A record takes an IPv4 address such as 192.0.2.1; use AAAA for IPv6",
} satisfies TypeDefinition;
