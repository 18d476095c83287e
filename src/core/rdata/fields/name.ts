import { parseAddress } from "../../addresses/address.ts";
import { parseTarget } from "../../names/name.ts";
import { nameFromWire, writeName } from "../../names/wire.ts";
import { type Fault, fail } from "../../result.ts";
import type { FieldKind } from "./field.ts";
import { quotedFault } from "./tokens.ts";

/** A host or any other name that a record points at. */
export const hostName: FieldKind<string> = {
  takes: "one",
  parse([token], { zoneName, where }) {
    const quoted = quotedFault(token, where);
    if (quoted !== undefined) return fail(quoted);
    // Without a trailing dot it would be a name in this zone whose labels are numbers, which is hardly ever meant.
    if (parseAddress(token.raw) !== undefined) return fail(addressForName(token.raw, where));
    const target = parseTarget(token.raw, zoneName, where);
    return target.ok ? target : fail(...target.faults.map((fault) => ({ ...fault, code: "bad-name" })));
  },
  print: (value) => value,
  write(value, out) {
    writeName(value.slice(0, -1), out);
  },
  read(wire) {
    const read = nameFromWire(wire.bytes, wire.at);
    if (read === undefined) return undefined;
    wire.at = read.end;
    return `${read.name}.`;
  },
};

export const addressForName = (text: string, where: string): Fault => ({
  code: "address-for-name",
  where,
  message: `${text} is an address, and this must be a name`,
  todo: "give the address an A or AAAA record at some name, and write that name here",
});
