import { ipv6 } from "../fields/address.ts";
import type { TypeDefinition } from "../fields/field.ts";

export const aaaa = {
  code: 28,
  fields: [{ name: "address", kind: ipv6 }],
  todo: "an AAAA record takes an IPv6 address such as 2001:db8::1; use A for IPv4",
} satisfies TypeDefinition;
