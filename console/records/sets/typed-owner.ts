import { parseOwner } from "../../../src/core/names/name.ts";
import { parseTyped } from "../../../src/core/names/unicode.ts";
import { type Fault, fail, type Result } from "../../../src/core/result.ts";

/** A name in the zone, as somebody typed it: whole only with a dot at its end. */
export function typedOwner(text: string, zone: string): Result<string> {
  const owner = parseTyped((ascii) => parseOwner(ascii, zone), text.trim().toLowerCase());
  return owner.ok && `.${owner.value}`.endsWith(`.${zone}`) ? fail(zoneTwice) : owner;
}

const zoneTwice: Fault = {
  code: "zone-twice",
  where: "name",
  message: "the zone's name is in it already",
  todo: "leave that out, or end it with a dot",
};
