import { parseAddress } from "../addresses/address.ts";
import { asAscii } from "../names/unicode.ts";
import { definitionOf, type RecordType } from "./table.ts";

/** Whether the field is the name of a host; the zone's name is appended to one without a final dot. */
export const isTarget = (type: RecordType, field: number): boolean =>
  definitionOf(type).fields[field]?.kind.wire === "name";

/**
 * The first target with a dot inside and none at its end: probably a full name, but the zone's name would be appended
 * to it. `fields` are the texts of one value. An address is not meant as a name, and refused anyway.
 */
export const targetWithoutDot = (type: RecordType, fields: readonly string[]): string | undefined =>
  fields.map((text) => text.trim()).find((text, i) => isTarget(type, i) && lacksDot(text));

function lacksDot(text: string): boolean {
  const withoutEscapes = asAscii(text).replaceAll(/\\./g, "");
  return withoutEscapes.includes(".") && !withoutEscapes.endsWith(".") && parseAddress(text) === undefined;
}
