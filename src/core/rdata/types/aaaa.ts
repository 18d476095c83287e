import { ipv6 } from "../fields/address.ts";
import { fieldRows, type TypeDefinition } from "../fields/field.ts";

export const aaaa = {
  fields: fieldRows(["address", ipv6]),
  todo: "an AAAA record takes an IPv6 address such as 2001:db8::1; use A for IPv4",
} satisfies TypeDefinition;
