import type { Instant } from "../instant.ts";
import { keyTtl, type UsedKey } from "./plan-signing.ts";

/**
 * The stages of a signed zone: it gets its first key, replaces it, and is no longer signed (RFC 6781 section 4.1,
 * RFC 7583). Each stage waits until answers that would not fit the next one have expired from caches.
 *
 * - `new`: signed, but caches may still have unsigned records
 * - `new-parent`: the parent is asked for the DS record
 * - `secure`: the parent has the DS record
 * - `roll-show`: the next key is in the DNSKEY set
 * - `roll-parent`: the parent is asked to replace the DS record
 * - `roll-sign`: the next key signs the zone
 * - `algorithm-sign`: a key of another algorithm signs the zone too, before any resolver may expect it
 * - `algorithm-show`, `algorithm-parent`: like `roll-show` and `roll-parent`
 * - `algorithm-hide`: the old key is no longer in the DNSKEY set, but still signs
 * - `leaving`: the parent is asked to remove the DS record
 */
export type Stage =
  | "new"
  | "new-parent"
  | "secure"
  | "roll-show"
  | "roll-parent"
  | "roll-sign"
  | "algorithm-sign"
  | "algorithm-show"
  | "algorithm-parent"
  | "algorithm-hide"
  | "leaving";

/** What a key is used for. */
export type KeyUse = UsedKey & {
  /** It is in the DNSKEY set, and signs it. */
  readonly shown: boolean;
  /** It signs the other records. */
  readonly signs: boolean;
  /** The parent should have a DS record of it. CDS and CDNSKEY records ask for that, except in the stages "new" and "leaving". */
  readonly inParent: boolean;
};

export type Life<Key extends KeyUse> = {
  readonly stage: Stage;
  /** When the stage began. */
  readonly since: Instant;
  /** The oldest first; the second, if there is one, is the next key. */
  readonly keys: readonly Key[];
  /** When the change that the stage waits for was first seen at the parent. */
  readonly parentSince?: Instant | undefined;
  /** Since when no DS record at the parent has matched a key of the zone: resolvers reject the zone. */
  readonly foreignDs?: Instant | undefined;
};

/** The DS records that all servers of the parent returned. `ttl` is in seconds. Undefined: they did not answer, or their answers differ. */
export type ParentView =
  | { readonly ds: readonly { readonly tag: number; readonly algorithm: number }[]; readonly ttl: number }
  | undefined;

export type Clock = {
  readonly now: Instant;
  /** The highest TTL in the zone, in seconds. */
  readonly highestTtl: number;
};

/** Time for secondaries to transfer the change, in milliseconds. */
const margin = 300_000;

/** The next stage if it is time for it, or the same stage with `parentSince` set or removed; `"gone"`: signing can end now; undefined: nothing changes. */
export function nextStage<Key extends KeyUse>(
  life: Life<Key>,
  parent: ParentView,
  clock: Clock,
): Life<Key> | "gone" | undefined {
  const { stage, since, keys } = life;
  const { now } = clock;
  const [old, next] = keys;
  const waited = (seconds: number): boolean => now >= since + seconds * 1000 + margin;
  const noted = life.foreignDs === undefined ? {} : { foreignDs: life.foreignDs };
  const go = (to: Stage, used: readonly Key[]): Life<Key> => ({ stage: to, since: now, keys: used, ...noted });
  const whenParent = (fits: (tags: readonly number[]) => boolean, then: () => Life<Key> | "gone") =>
    onceParentFits(life, parent, now, fits, then);
  if (old === undefined) return undefined;
  switch (stage) {
    case "new":
    case "new-parent":
      if (parent !== undefined && has(parent, old)) return go("secure", keys);
      return stage === "new" && waited(clock.highestTtl) ? go("new-parent", keys) : undefined;
    case "secure":
      return undefined;
    case "leaving":
      return whenParent(
        (tags) => tags.length === 0,
        () => (waited(0) ? "gone" : life),
      );
  }
  if (next === undefined) return go("secure", keys);
  switch (stage) {
    case "roll-show":
      return waited(keyTtl)
        ? go("roll-parent", [
            { ...old, inParent: false },
            { ...next, inParent: true },
          ])
        : undefined;
    case "roll-parent":
      return whenParent(
        (tags) => tags.includes(next.tag) && !tags.includes(old.tag),
        () =>
          go("roll-sign", [
            { ...old, signs: false },
            { ...next, signs: true },
          ]),
      );
    case "roll-sign":
      return waited(clock.highestTtl) ? go("secure", [next]) : undefined;
    case "algorithm-sign":
      return waited(clock.highestTtl) ? go("algorithm-show", [old, { ...next, shown: true }]) : undefined;
    case "algorithm-show":
      return waited(keyTtl)
        ? go("algorithm-parent", [
            { ...old, inParent: false },
            { ...next, inParent: true },
          ])
        : undefined;
    case "algorithm-parent":
      return whenParent(
        (tags) => tags.includes(next.tag) && !tags.includes(old.tag),
        () => go("algorithm-hide", [{ ...old, shown: false }, next]),
      );
    case "algorithm-hide":
      return waited(keyTtl) ? go("secure", [next]) : undefined;
  }
}

const has = ({ ds }: NonNullable<ParentView>, { tag }: KeyUse): boolean => ds.some((each) => each.tag === tag);

/** Resolvers may use the old DS set until its TTL has passed since the parent's servers stopped returning it. */
function onceParentFits<Key extends KeyUse>(
  life: Life<Key>,
  parent: ParentView,
  now: Instant,
  fits: (tags: readonly number[]) => boolean,
  then: () => Life<Key> | "gone",
): Life<Key> | "gone" | undefined {
  if (parent === undefined) return undefined;
  const { parentSince, ...rest } = life;
  if (!fits(parent.ds.map(({ tag }) => tag))) return parentSince === undefined ? undefined : rest;
  if (parentSince === undefined) return { ...life, parentSince: now };
  return now >= parentSince + Math.max(parent.ttl, longestDs) * 1000 + margin ? then() : undefined;
}

/** In seconds. The TTL of the removed set is not known; most parents use an hour or a day. */
const longestDs = 86_400;

/** A new key for the same zone. Only a key of another algorithm must sign before it is published (RFC 6840 section 5.11). */
export function beginRoll<Key extends KeyUse>(life: Life<Key>, key: Key, now: Instant): Life<Key> {
  const [old] = life.keys;
  const isOther = old?.algorithm !== key.algorithm;
  return {
    stage: isOther ? "algorithm-sign" : "roll-show",
    since: now,
    keys: [...life.keys, { ...key, shown: !isOther, signs: isOther, inParent: false }],
  };
}

/** If another server has signed the zone, caches have no unsigned records of it. */
export const beginLife = <Key extends KeyUse>(key: Key, now: Instant, isSignedElsewhere = false): Life<Key> => ({
  stage: isSignedElsewhere ? "new-parent" : "new",
  since: now,
  keys: [{ ...key, shown: true, signs: true, inParent: true }],
});

/**
 * Signing can end once the parent has had no DS record for as long as caches may keep one. This wait applies even if it
 * never had one.
 */
export const beginLeaving = <Key extends KeyUse>(life: Life<Key>, now: Instant): Life<Key> => ({
  stage: "leaving",
  since: now,
  keys: life.keys,
});
