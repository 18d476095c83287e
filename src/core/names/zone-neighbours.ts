import { enclosing, ownerOf } from "./name.ts";

/** A zone above or below a name at which a new one is wanted. */
export type Neighbour = { readonly number: number; readonly name: string; readonly account: number };

/**
 * Consent to a zone of another account. From the owner of a zone: a name at or below that zone covers all names from there down,
 * a name above it covers that name alone. From the operator (no zone): that name alone.
 */
export type Consent = { readonly zone: number | undefined; readonly account: number; readonly name: string };

/** What surrounds a name at which an account wants a zone. */
export type Neighbourhood = {
  /** The closest zone above. */
  readonly above: Neighbour | undefined;
  /**
   * Zones of other accounts below, without those that have a further zone between themselves and the name; none after the first
   * whose owner does not consent.
   */
  readonly below: readonly Neighbour[];
  /** What this account was granted, at the name and above it. */
  readonly consents: readonly Consent[];
};

/** A name that no account should hold alone. */
export type Reserved = "public-suffix" | "name-server";
export type NewZoneName = { readonly name: string; readonly account: number; readonly reserved?: Reserved | undefined };

export type NameRefusal = Reserved | "inside-foreign-zone" | "above-foreign-zone";

/** More zones of others below a name are not looked at: it then takes the operator's word. */
export const mostBelow = 100;

/**
 * Why an account may not have a zone of this name; undefined when it may. Only the closest zones matter: the owner of the closest
 * zone above decides about the names in it, also against the owner of a zone further up, and a reserved name is no longer free
 * to reserve once a zone above holds it.
 */
export function refusalOfName(wish: NewZoneName, around: Neighbourhood): NameRefusal | undefined {
  const { above, below, consents } = around;
  const isAllowed = ({ zone, account, name }: Consent) =>
    zone === undefined && account === wish.account && name === wish.name;
  if (consents.some(isAllowed)) return undefined;
  const consented = (zone: Neighbour): boolean => isConsented(wish, zone, consents);
  if (above === undefined && wish.reserved !== undefined) return wish.reserved;
  if (above !== undefined && above.account !== wish.account && !consented(above)) return "inside-foreign-zone";
  const foreign = below.filter(({ account }) => account !== wish.account);
  return foreign.length > mostBelow || !foreign.every(consented) ? "above-foreign-zone" : undefined;
}

/** Whether the owner of a zone above or below lets the account have the name. */
export const isConsented = (wish: NewZoneName, { number, name: zoneName }: Neighbour, consents: readonly Consent[]) =>
  consents.some(
    ({ zone, account, name }) => zone === number && account === wish.account && covers({ name, zoneName }, wish.name),
  );

const covers = (consent: { readonly name: string; readonly zoneName: string }, wanted: string): boolean =>
  isWithin(consent.name, consent.zoneName) ? isWithin(wanted, consent.name) : wanted === consent.name;

const isWithin = (name: string, zoneName: string): boolean => ownerOf(name, zoneName) !== undefined;

/**
 * The labels of a zone's name from the last to the first: names below a name are then adjacent in an index. A space sorts
 * before every character of a label, so that it comes right after the name.
 */
export const reversedName = (name: string): string => name.split(".").toReversed().join(" ");

/** Where the reversed names below a name begin and end, both excluded. */
export const reversedBelow = (name: string): { readonly after: string; readonly before: string } => {
  const reversed = reversedName(name);
  return { after: `${reversed} `, before: `${reversed}!` };
};

/** Names between a name and one below it, that one included. */
export const namesBetween = (below: string, name: string): readonly string[] =>
  enclosing(below).filter((each) => each.length > name.length);
