import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { faultInWords, type Result } from "../../../src/core/result.ts";
import { typedOwner } from "../sets/typed-owner.ts";

/** The zone in a name that was typed as a whole; the longest, if zones are inside each other. */
export function zoneIn(typed: string, zones: readonly string[]): string | undefined {
  const text = `.${typed.trim().toLowerCase().replace(/\.$/, "")}`;
  return zones
    .filter((zone) => text.endsWith(`.${zone}`) || text.endsWith(`.${nameToUnicode(zone)}`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** People also type the whole name. */
export function ownerIn(typed: string, zone: string): Result<string> | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  const whole = `.${text.toLowerCase().replace(/\.$/, "")}`;
  const end = [`.${zone}`, `.${nameToUnicode(zone)}`].find((each) => whole.endsWith(each));
  return typedOwner(end === undefined ? text : whole.slice(1, -end.length) || "@", zone);
}

export function nameFault(typed: string, owner: Result<string> | undefined): string | false {
  if (typed.trim() === "") return "enter a name, or @ for the zone itself";
  return owner !== undefined && !owner.ok && owner.faults.map(faultInWords).join(". ");
}

export const aliasFault =
  "this name is an alias (CNAME), so it cannot have an address; delete that record, or choose another";

export const currently = (addresses: readonly string[]): string =>
  addresses.length === 0
    ? "has no address yet. The first update creates its record."
    : `has the address ${addresses.join(" and ")} now. The first update replaces it.`;
