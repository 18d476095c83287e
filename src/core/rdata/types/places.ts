import { ipv4 } from "../fields/address.ts";
import { repeated } from "../fields/bytes.ts";
import { plainType, type TypeDefinition } from "../fields/field.ts";
import { addressPrefix, eui48, eui64, locator, relay, u64 } from "../fields/gateway.ts";
import { location } from "../fields/location.ts";
import { u8, u16 } from "../fields/number.ts";

/** Addresses of other kinds, and where a thing is. */
export const placeTypes = {
  LOC: plainType("52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m", ["location", location]),
  APL: plainType("1:192.0.2.0/24 !2:2001:db8::/32", ["prefixes", repeated(addressPrefix)]),
  NID: plainType("10 0014:4fff:ff20:ee64", ["preference", u16], ["node", locator]),
  L32: plainType("10 192.0.2.1", ["preference", u16], ["locator", ipv4]),
  L64: plainType("10 2001:0db8:1140:1000", ["preference", u16], ["locator", locator]),
  EUI48: plainType("00-00-5e-00-53-2a", ["address", eui48]),
  EUI64: plainType("00-00-5e-ef-10-00-00-2a", ["address", eui64]),
  AMTRELAY: plainType("10 0 1 192.0.2.1", ["precedence", u8], ["relay", relay]),
  IPN: plainType("4200000", ["number", u64]),
} satisfies Record<string, TypeDefinition>;
