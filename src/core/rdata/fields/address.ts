import {
  type Address,
  addressBytes,
  addressFromBytes,
  type Family,
  parseIpv4,
  parseIpv6,
} from "../../addresses/address.ts";
import { fail, ok } from "../../result.ts";
import type { FieldKind } from "./field.ts";
import { quotedFault } from "./tokens.ts";

export const ipv4 = address("ipv4", parseIpv4, "an IPv4 address", 4);
export const ipv6 = address("ipv6", parseIpv6, "an IPv6 address", 16);

function address(
  family: Family,
  parseAddress: (text: string) => Address | undefined,
  what: string,
  width: number,
): FieldKind<string> {
  return {
    takes: "one",
    wire: width,
    parse([token], { where }) {
      const quoted = quotedFault(token, where);
      if (quoted !== undefined) return fail(quoted);
      const parsed = parseAddress(token.raw);
      return parsed === undefined
        ? fail({ code: `bad-${family}`, where, message: `this is not ${what}` })
        : ok(parsed.text);
    },
    print: (value) => value,
    write(value, out) {
      out.push(...addressBytes({ family, text: value }));
    },
    read(wire) {
      const start = wire.at;
      wire.at += width;
      return wire.at > wire.bytes.length ? undefined : addressFromBytes(wire.bytes.subarray(start, wire.at))?.text;
    },
  };
}
