import { enclosing, ownerOf } from "./name.ts";

/** A zone above or below the name of a zone that is to be created. */
export type Neighbour = { readonly number: number; readonly name: string; readonly account: number };

/**
 * Consent to a zone of another account. From the owner of a zone: consent for a name at or below that zone includes all
 * names below it, consent for a name above it is for that name only. From the operator (no zone): for that name only.
 */
export type Consent = { readonly zone: number | undefined; readonly account: number; readonly name: string };

/** The zones around a name at which an account wants to create a zone. */
export type Neighbourhood = {
  /** The closest zone above. */
  readonly above: Neighbour | undefined;
  /**
   * Zones of other accounts below, except those with another zone between themselves and the name. The list ends with
   * the first whose owner has not consented.
   */
  readonly below: readonly Neighbour[];
  /** What this account was granted for the name and names above it. */
  readonly consents: readonly Consent[];
};

/** Why no account should have this name for itself. */
export type Reserved = "public-suffix" | "name-server" | "service-name" | "catalog";
export type NewZoneName = { readonly name: string; readonly account: number; readonly reserved?: Reserved | undefined };

export type NameRefusal = Reserved | "inside-foreign-zone" | "above-foreign-zone";

/** If more zones of other accounts are below a name, their consents are not checked: the operator must allow it. */
export const mostBelow = 100;

/**
 * Why an account may not have a zone of this name; undefined when it may. Only the closest zones matter: the owner of
 * the closest zone above decides about the names in it, even against the owner of a zone further up, and a name inside
 * an existing zone is not treated as reserved.
 */
export function refusalOfName(newZone: NewZoneName, around: Neighbourhood): NameRefusal | undefined {
  const { above, below, consents } = around;
  const isAllowed = ({ zone, account, name }: Consent) =>
    zone === undefined && account === newZone.account && name === newZone.name;
  if (consents.some(isAllowed)) return undefined;
  const consented = (zone: Neighbour): boolean => isConsented(newZone, zone, consents);
  if (above === undefined && newZone.reserved !== undefined) return newZone.reserved;
  if (above !== undefined && above.account !== newZone.account && !consented(above)) return "inside-foreign-zone";
  const foreign = below.filter(({ account }) => account !== newZone.account);
  return foreign.length > mostBelow || !foreign.every(consented) ? "above-foreign-zone" : undefined;
}

/** Whether the owner of a zone above or below has consented. */
export const isConsented = (
  newZone: NewZoneName,
  { number, name: zoneName }: Neighbour,
  consents: readonly Consent[],
) =>
  consents.some(
    ({ zone, account, name }) =>
      zone === number && account === newZone.account && covers({ name, zoneName }, newZone.name),
  );

const covers = (consent: { readonly name: string; readonly zoneName: string }, wanted: string): boolean =>
  isWithin(consent.name, consent.zoneName) ? isWithin(wanted, consent.name) : wanted === consent.name;

const isWithin = (name: string, zoneName: string): boolean => ownerOf(name, zoneName) !== undefined;

/**
 * The labels of a zone's name from the last to the first: names below a name are then adjacent in an index. A space
 * sorts before every character of a label, so that they come right after the name.
 */
export const reversedName = (name: string): string => name.split(".").toReversed().join(" ");

/** The range of the reversed names below a name, both ends excluded. */
export const reversedBelow = (name: string): { readonly after: string; readonly before: string } => {
  const reversed = reversedName(name);
  return { after: `${reversed} `, before: `${reversed}!` };
};

/** The names between `name` and `below`, including `below`. */
export const namesBetween = (below: string, name: string): readonly string[] =>
  enclosing(below).filter((each) => each.length > name.length);
