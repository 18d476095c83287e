import { parseOwner } from "../../../src/core/names/name.ts";
import { parseTyped } from "../../../src/core/names/unicode.ts";
import { type Fault, fail, type Result } from "../../../src/core/result.ts";

/** A name in the zone as somebody typed it; it is a full name only if it ends with a dot. */
export function typedOwner(text: string, zone: string): Result<string> {
  const owner = parseTyped((ascii) => parseOwner(ascii, zone), text.trim().toLowerCase());
  return owner.ok && `.${owner.value}`.endsWith(`.${zone}`) ? fail(zoneTwice) : owner;
}

const zoneTwice: Fault = {
  code: "zone-twice",
  where: "name",
  message: "the name already ends with the zone's name",
  todo: "leave the zone's name out, or end the name with a dot",
};
