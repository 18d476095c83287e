import type { DynamicName, NameDevice, NameFamily, NameMove } from "../../contract/overview.ts";
import type { Instant } from "../../core/instant.ts";
import type { SetRule } from "../../core/may.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { LoggedChange, Token } from "../model.ts";
import { isByHand, tokenIn } from "./actor-label.ts";
import { iso, sameValues, valuesOf } from "./latest-writes.ts";

/** Which names of an account are dynamic, and what its history says about them. All histories are newest first. */

export type LoggedAddress = LoggedChange & {
  readonly change: Exclude<LoggedChange["change"], { readonly kind: "settings" }>;
};

/** A name with the changes of its addresses that were read. */
export type NameChanges = {
  readonly zone: string;
  readonly owner: string;
  readonly changes: readonly LoggedAddress[];
  /** A token is made for it, so it is shown before its first address. */
  readonly isAwaited: boolean;
};

export const nameKey = (zone: string, owner: string): string => `${zone}/${owner}`;

/**
 * The names that a program has moved, the latest first, and then those that a token is made for, even before their
 * first address.
 */
export function dynamicNames(changes: readonly LoggedChange[], tokens: readonly Token[]): readonly NameChanges[] {
  const addresses = changes.filter(isOfAddress);
  const gone = goneZones(changes);
  const byName = Map.groupBy(
    addresses.filter(({ zone }) => !gone.has(zone)),
    ({ zoneName, change }) => nameKey(zoneName, change.owner),
  );
  const awaited = awaitedNames(tokens);
  const found = new Map<string, NameChanges>();
  for (const [key, its] of byName) {
    const [latest] = its;
    if (latest === undefined || !its.some(isProgramsMove)) continue;
    found.set(key, { zone: latest.zoneName, owner: latest.change.owner, changes: its, isAwaited: awaited.has(key) });
  }
  for (const [key, name] of awaited)
    if (!found.has(key)) found.set(key, { ...name, changes: byName.get(key) ?? [], isAwaited: true });
  return [...found.values()];
}

/** What is listed at most: the names in the scopes of 1,000 tokens may be millions. */
const mostAwaited = 1_000;

/** The names that a token in force is made for; those of the newest token come first. */
function awaitedNames(tokens: readonly Token[]): ReadonlyMap<string, Pick<NameChanges, "zone" | "owner">> {
  const names = new Map<string, Pick<NameChanges, "zone" | "owner">>();
  for (const { scope, revoked } of tokens.toReversed()) {
    if (revoked !== undefined || scope.access !== "write") continue;
    for (const zone of scope.zones ?? [])
      for (const rule of scope.sets ?? []) {
        if (names.size >= mostAwaited) return names;
        const { owner } = rule;
        if (owner !== undefined && hasAddresses(rule)) names.set(nameKey(zone, owner), { zone, owner });
      }
  }
  return names;
}

/** A token for certificates is made for a name too, but not for its addresses. */
const hasAddresses = ({ types }: SetRule): boolean => types === undefined || types.some(isAddress);

const isOfAddress = (logged: LoggedChange): logged is LoggedAddress =>
  logged.change.kind !== "settings" && isAddress(logged.change.type);

const isAddress = (type: string): type is "A" | "AAAA" => type === "A" || type === "AAAA";

/** A zone ends with its SOA set. */
const goneZones = (changes: readonly LoggedChange[]): ReadonlySet<number> =>
  new Set(
    changes.flatMap(({ zone, change }) =>
      change.kind !== "settings" && change.type === "SOA" && change.after === null ? [zone] : [],
    ),
  );

const isMove = ({ change: { before, after } }: LoggedAddress): boolean =>
  before !== null && after !== null && !sameValues(before, after);

const isProgramsMove = (logged: LoggedAddress): boolean => isMove(logged) && !isByHand(logged.actor);

const day = 86_400_000;
const [drawnTime, mostMoves] = [30 * day, 60];

/** `sets` are the current ones of the name. */
export function describeName(
  { zone, owner, changes }: Omit<NameChanges, "isAwaited">,
  sets: readonly RRset[],
  { tokens, now }: { readonly tokens: readonly Token[]; readonly now: Instant },
): DynamicName {
  return {
    name: absoluteName(owner, zone),
    at: { zone, owner },
    families: (["A", "AAAA"] as const).flatMap((type) => familyOf(type, sets, changes) ?? []),
    updater: null,
    device: deviceOf({ zone, owner, changes }, tokens, now),
    moves: movesOf(changes, now),
  };
}

function familyOf(
  type: "A" | "AAAA",
  sets: readonly RRset[],
  changes: readonly LoggedAddress[],
): NameFamily | undefined {
  const set = sets.find((each) => each.type === type);
  if (set === undefined) return undefined;
  const its = changes.filter(({ change }) => change.type === type);
  const last = its.find(isMove) ?? its.find(({ change }) => change.before === null);
  const changed = last ? { at: iso(last.at), by: last.actor, byHand: isByHand(last.actor) } : null;
  return { type, values: valuesOf(set), changed, state: null };
}

function movesOf(changes: readonly LoggedAddress[], now: Instant): readonly NameMove[] {
  const drawn = changes.filter(
    ({ at, change: { before, after } }) => at > now - drawnTime && !(before && after && sameValues(before, after)),
  );
  return drawn
    .slice(0, mostMoves)
    .map(
      ({ at, change: { type, after } }): NameMove => ({
        at: iso(at),
        type: type === "AAAA" ? "AAAA" : "A",
        address: after === null ? "" : valuesOf(after).join(", "),
      }),
    )
    .toReversed();
}

/** The program that wrote last; before its first write, the one that the name's token was made for. */
function deviceOf(
  { zone, owner, changes }: Omit<NameChanges, "isAwaited">,
  tokens: readonly Token[],
  now: Instant,
): NameDevice | null {
  const writer = changes.find(({ actor }) => !isByHand(actor))?.actor;
  const id = writer === undefined ? undefined : tokenIn(writer);
  const made = tokens.filter(
    ({ scope: { access, zones = [], sets = [] } }) =>
      access === "write" && zones.includes(zone) && sets.some((rule) => rule.owner === owner && hasAddresses(rule)),
  );
  const wrote = tokens.find((token) => token.id === id);
  const isInForce = (token: Token | undefined): boolean => token !== undefined && endOf(token, now) === null;
  // A new token for the same name replaces the one that wrote last, once that has ended.
  const token = isInForce(wrote) ? wrote : (made.findLast(isInForce) ?? wrote ?? made.at(-1));
  if (token === undefined) return writer === undefined ? null : { name: writer, heard: null, ended: null };
  const heard = token.lastUsed === undefined ? null : iso(token.lastUsed);
  return { name: token.name, heard, ended: endOf(token, now) };
}

function endOf({ revoked, scope: { expires } }: Token, now: Instant): NameDevice["ended"] {
  if (revoked !== undefined) return "revoked";
  return expires !== undefined && expires <= now ? "expired" : null;
}
