import type { LatestWrite, MovingName } from "../../contract/overview.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { shownValue } from "../api/rrsets/wire.ts";
import type { LoggedChange } from "../model.ts";
import { isByHand } from "./actor-label.ts";

/** What the overview shows of an account's latest changes, which are sorted newest first. */

export type LoggedSetRow = LoggedChange & {
  readonly change: Exclude<LoggedChange["change"], { readonly kind: "settings" }>;
};

const isOfSet = (logged: LoggedChange): logged is LoggedSetRow => logged.change.kind !== "settings";

/**
 * The A and AAAA sets that exist and whose address a program has changed, the latest first. Those of a name that a
 * token is made for (`isMadeFor`) count from their first address on.
 */
export function movingNames(
  changes: readonly LoggedChange[],
  isMadeFor: (zone: string, owner: string) => boolean,
): readonly MovingName[] {
  const ofSets = changes.filter(isOfSet);
  const gone = goneZones(ofSets);
  const bySet = Map.groupBy(
    ofSets.filter(({ zone, change }) => isAddress(change.type) && !gone.has(zone)),
    ({ zone, change }) => `${zone}/${change.owner}/${change.type}`,
  );
  return [...bySet.values()].flatMap((its) => nameOf(its, isMadeFor) ?? []);
}

/** A zone begins and ends with its SOA set. */
const goneZones = (changes: readonly LoggedSetRow[]): ReadonlySet<number> =>
  new Set(changes.filter(({ change }) => change.type === "SOA" && change.after === null).map(({ zone }) => zone));

function nameOf(
  changes: readonly LoggedSetRow[],
  isMadeFor: (zone: string, owner: string) => boolean,
): MovingName | undefined {
  const moves = changes.filter(({ change: { before, after } }) => before && after && !sameValues(before, after));
  const [latest] = changes;
  const now = latest?.change.after;
  if (latest === undefined || now === null || now === undefined) return undefined;
  const { zoneName: zone, change } = latest;
  const written = isMadeFor(zone, change.owner) ? changes : moves;
  // A record that only people edit in the console is no dynamic name.
  if (written.every(({ actor }) => isByHand(actor))) return undefined;
  const move = moves[0] ?? latest;
  return {
    name: absoluteName(change.owner, zone),
    type: change.type === "AAAA" ? "AAAA" : "A",
    at: { zone, owner: change.owner },
    values: valuesOf(now),
    changed: { at: iso(move.at), by: move.actor },
    moves: moves.length,
    state: null,
  };
}

const isAddress = (type: string): type is "A" | "AAAA" => type === "A" || type === "AAAA";

const sameValues = (one: RRset, other: RRset): boolean =>
  JSON.stringify(valuesOf(one).toSorted()) === JSON.stringify(valuesOf(other).toSorted());

export const valuesOf = ({ type, records }: RRset): readonly string[] =>
  records.map((record) => shownValue(type, record));

const [mostWrites, mostSets, mostValues, longestValue] = [10, 3, 3, 120];

/** The latest writes, with the first few sets of each. */
export function latestWrites(changes: readonly LoggedChange[]): readonly LatestWrite[] {
  const writes = [...Map.groupBy(changes, ({ zone, serial }) => `${zone} ${serial}`).values()];
  return writes.slice(0, mostWrites).flatMap((its) => {
    const [first] = its;
    if (first === undefined) return [];
    const { zoneName: zone, serial, at, actor: by } = first;
    // If the zone was created or deleted, only that is shown.
    const sets = (its.some(isWholeZone) ? its.filter(isWholeZone) : its).slice(0, mostSets).map(({ change }) => {
      if (change.kind === "settings")
        return { kind: change.kind, owner: null, type: null, before: [], after: [], others: [] };
      const { kind, owner, type, before, after } = change;
      const others = before && after && sameValues(before, after) ? otherChanges(before, after) : [];
      return { kind, owner, type, before: fewValues(before), after: fewValues(after), others };
    });
    return [{ zone, serial, at: iso(at), by, sets, more: its.length - sets.length }];
  });
}

const isWholeZone = ({ change }: LoggedChange): boolean =>
  change.kind !== "settings" && change.type === "SOA" && (change.before === null || change.after === null);

function otherChanges(before: RRset, after: RRset): readonly string[] {
  const comments = ({ records }: RRset) => records.map(({ rdata, comment }) => `${rdata} ${comment}`).toSorted();
  const isOther = (of: (set: RRset) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after));
  return [
    ...(before.ttl === after.ttl ? [] : [`TTL ${before.ttl ?? "default"} → ${after.ttl ?? "default"}`]),
    ...(isOther(comments) ? ["comment"] : []),
    ...(isOther(({ labels = {} }) => labels) ? ["labels"] : []),
    ...(isOther(({ locked = false }) => locked) ? ["protection"] : []),
  ];
}

function fewValues(set: RRset | null): readonly string[] {
  const values = set === null ? [] : valuesOf(set);
  const few = values
    .slice(0, mostValues)
    .map((value) => (value.length > longestValue ? `${value.slice(0, longestValue)}…` : value));
  return values.length > few.length ? [...few, `and ${values.length - few.length} more`] : few;
}

export const iso = (at: number): string => new Date(at).toISOString();
