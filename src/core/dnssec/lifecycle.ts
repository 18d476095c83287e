import type { Instant } from "../instant.ts";
import {
  answered,
  type Ds,
  everyServer,
  highestDsTtl,
  leadsTo,
  mayLeadTo,
  type ParentFault,
  type ParentView,
  someServerNot,
} from "./parent-view.ts";
import type { UsedKey } from "./plan-signing.ts";
import { keyTtl, transferMargin } from "./timing.ts";

/**
 * The stages of a signed zone: it gets its first key, replaces it, and goes insecure. One key signs everything (a CSK).
 * Its successor is introduced as a KSK by the Double-KSK method, and as a ZSK by Pre-Publication (RFC 7583 sections
 * 3.3.1 and 3.2.1); one of another algorithm by the conservative approach of RFC 6781 section 4.1.4. Each stage waits
 * until answers that would not fit the next one have expired from caches.
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
 * - `leaving`: the zone goes insecure; the parent is asked to remove the DS record
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

/** What a key is used for, under the names that are stored. */
export type KeyUse = UsedKey & {
  /** Published: it is in the DNSKEY set, and signs it. */
  readonly shown: boolean;
  /** Active: it signs the other records. */
  readonly signs: boolean;
  /**
   * The parent should have a DS record of it, whether or not it has one. CDS and CDNSKEY records ask for that, except
   * in the stages "new" and "leaving".
   */
  readonly inParent: boolean;
};

export type Lifecycle<Key extends KeyUse> = {
  readonly stage: Stage;
  /** When the stage began. */
  readonly since: Instant;
  /** The oldest first; the second, if there is one, is the next key. */
  readonly keys: readonly Key[];
  /** When the change that the stage waits for was first seen at the parent. */
  readonly parentSince?: Instant | undefined;
  /**
   * The highest TTL of DS records that was seen at the parent since the zone was last secure, in seconds, if it is
   * above `longestDs`.
   */
  readonly dsTtl?: number | undefined;
  /**
   * For how many seconds after the stage began caches may have older records; only if the stage waits for them. Records
   * may be deleted or change their TTL during the wait.
   */
  readonly zoneTtl?: number | undefined;
  /** The operator does not wait for servers of the parent that do not answer, until the zone is secure or unsigned. */
  readonly ignoresSilent?: true | undefined;
  /** The stage before "leaving". */
  readonly left?: Exclude<Stage, "leaving"> | undefined;
  /** What is wrong at the parent, and since when. It is noted for people; no stage depends on it. */
  readonly parentFault?: (ParentFault & { readonly since: Instant }) | undefined;
};

export type Clock<Key extends KeyUse> = {
  readonly now: Instant;
  /** The highest TTL in the zone, or what is left of a higher one, in seconds; used only if `isTtlNeeded`. */
  readonly highestTtl: number;
  /** The DS records that a key can have, one for each digest type that can be compared. */
  readonly dsOf: (key: Key) => readonly Ds[];
};

/**
 * The next stage if it is time for it, or the same stage with what was learned about the parent; `"gone"`: signing can
 * end now; undefined: nothing changes. A stage that depends on the parent goes on only if each of its servers has
 * answered (or the operator does not wait for those that do not), and none contradicts.
 */
export function nextStage<Key extends KeyUse>(
  life: Lifecycle<Key>,
  servers: ParentView,
  clock: Clock<Key>,
): Lifecycle<Key> | "gone" | undefined {
  const parent = life.ignoresSilent ? answered(servers) : servers;
  const next = stepFrom(life, parent, clock) ?? withZoneTtl(life, clock);
  const dsTtl = Math.max(life.dsTtl ?? longestDs, highestDsTtl(parent));
  if (dsTtl === (life.dsTtl ?? longestDs) || life.stage === "secure" || next === "gone") return next;
  return next?.stage === "secure" ? next : { ...(next ?? life), dsTtl };
}

/** The stages that wait until older records of the zone have expired from caches. */
export const afterTtls: ReadonlySet<Stage> = new Set(["new", "roll-sign", "algorithm-sign"]);

/** Whether the next step depends on the highest TTL in the zone: when such a wait begins, and when it would end. */
export function isTtlNeeded({ stage, since, parentSince, dsTtl, zoneTtl }: Lifecycle<KeyUse>, now: Instant): boolean {
  if (afterTtls.has(stage)) return zoneTtl === undefined || now >= since + zoneTtl * 1000;
  return stage === "roll-parent" && parentSince !== undefined && now >= parentSince + (dsTtl ?? longestDs) * 1000;
}

function withZoneTtl<Key extends KeyUse>(
  life: Lifecycle<Key>,
  { now, highestTtl }: Clock<Key>,
): Lifecycle<Key> | undefined {
  const isHigher = afterTtls.has(life.stage) && isTtlNeeded(life, now) && highestTtl > (life.zoneTtl ?? -1);
  return isHigher ? { ...life, zoneTtl: highestTtl } : undefined;
}

/** The life at the beginning of a stage. */
function inStage<Key extends KeyUse>(
  stage: Stage,
  { parentSince: _, zoneTtl: __, dsTtl, ignoresSilent, ...rest }: Lifecycle<Key>,
  keys: readonly Key[],
  { now: since, highestTtl }: Clock<Key>,
): Lifecycle<Key> {
  return {
    ...rest,
    stage,
    since,
    keys,
    ...(stage !== "secure" && ignoresSilent && { ignoresSilent }),
    ...(stage !== "secure" && dsTtl !== undefined && { dsTtl }),
    ...(stage === "roll-sign" && { zoneTtl: highestTtl }),
  };
}

function stepFrom<Key extends KeyUse>(
  life: Lifecycle<Key>,
  parent: ParentView,
  clock: Clock<Key>,
): Lifecycle<Key> | "gone" | undefined {
  const { stage, since, keys } = life;
  const { now } = clock;
  const [old, next] = keys;
  const waited = (seconds: number): boolean => now >= since + seconds * 1000 + transferMargin;
  const zoneTtl = Math.max(life.zoneTtl ?? 0, clock.highestTtl);
  const go = (to: Stage, used: readonly Key[]): Lifecycle<Key> => inStage(to, life, used, clock);
  const dsMatches = expectedDs(life, clock.dsOf);
  const isThere = dsMatches !== undefined && everyServer(parent, dsMatches);
  if (old === undefined) return undefined;
  switch (stage) {
    case "new":
    case "new-parent":
      if (isThere) return go("secure", keys);
      return stage === "new" && waited(zoneTtl) ? go("new-parent", keys) : undefined;
    case "secure":
      return undefined;
    case "leaving":
      return onceParentMatches(life, parent, clock, () => (waited(0) ? "gone" : life));
  }
  if (next === undefined) return go("secure", keys);
  const handOver = [
    { ...old, inParent: false },
    { ...next, inParent: true },
  ];
  switch (stage) {
    case "roll-show":
      return waited(keyTtl) ? go("roll-parent", handOver) : undefined;
    case "roll-parent":
      return onceParentMatches(life, parent, clock, () =>
        go("roll-sign", [
          { ...old, signs: false },
          { ...next, signs: true },
        ]),
      );
    case "roll-sign":
      return waited(zoneTtl) && isThere ? go("secure", [next]) : undefined;
    case "algorithm-sign":
      return waited(zoneTtl) ? go("algorithm-show", [old, { ...next, shown: true }]) : undefined;
    case "algorithm-show":
      return waited(keyTtl) ? go("algorithm-parent", handOver) : undefined;
    case "algorithm-parent":
      return onceParentMatches(life, parent, clock, () => go("algorithm-hide", [{ ...old, shown: false }, next]));
    case "algorithm-hide":
      return waited(keyTtl) && isThere ? go("secure", [next]) : undefined;
  }
}

/**
 * What the DS records at each server of the parent must be before the stage can end; undefined if it does not wait for
 * them.
 */
export function expectedDs<Key extends KeyUse>(
  { stage, keys: [old, next] }: Pick<Lifecycle<Key>, "stage" | "keys">,
  dsOf: Clock<Key>["dsOf"],
): ((ds: readonly Ds[]) => boolean) | undefined {
  switch (stage) {
    case "secure":
    case "roll-show":
    case "algorithm-sign":
    case "algorithm-show":
      return undefined;
    case "leaving":
      return (ds) => ds.length === 0;
    case "new":
    case "new-parent":
      return old && ((ds) => leadsTo(ds, dsOf(old)));
    case "roll-parent":
    case "roll-sign":
    case "algorithm-parent":
    case "algorithm-hide":
      return old && next && ((ds) => leadsTo(ds, dsOf(next)) && !mayLeadTo(ds, dsOf(old)));
  }
}

/**
 * Resolvers may use the old DS set until its TTL has passed since the parent's servers stopped returning it. If one of
 * them returns it again, the wait begins again.
 */
function onceParentMatches<Key extends KeyUse>(
  life: Lifecycle<Key>,
  parent: ParentView,
  { now, dsOf }: Clock<Key>,
  then: () => Lifecycle<Key> | "gone",
): Lifecycle<Key> | "gone" | undefined {
  const { parentSince, ...rest } = life;
  const dsMatches = expectedDs(life, dsOf) ?? (() => false);
  if (someServerNot(parent, dsMatches)) return parentSince === undefined ? undefined : rest;
  if (!everyServer(parent, dsMatches)) return undefined;
  if (parentSince === undefined) return { ...life, parentSince: now };
  const ttl = Math.max(life.dsTtl ?? longestDs, highestDsTtl(parent));
  return now >= parentSince + ttl * 1000 + transferMargin ? then() : undefined;
}

/** In seconds. The TTL of the removed set may not have been seen; most parents use an hour or a day. */
const longestDs = 86_400;

/**
 * A new key for the same zone. Only a key of another algorithm must sign before it is published (RFC 6840 section
 * 5.11).
 */
export function beginRoll<Key extends KeyUse>(
  life: Lifecycle<Key>,
  key: Key,
  now: Instant,
  zoneTtl?: number,
): Lifecycle<Key> {
  const [old] = life.keys;
  const isOther = old?.algorithm !== key.algorithm;
  return {
    ...life,
    stage: isOther ? "algorithm-sign" : "roll-show",
    since: now,
    keys: [...life.keys, { ...key, shown: !isOther, signs: isOther, inParent: false }],
    parentSince: undefined,
    ...(isOther && zoneTtl !== undefined && { zoneTtl }),
  };
}

/** If another server has signed the zone, caches have no unsigned records of it. */
export const beginSigning = <Key extends KeyUse>(
  key: Key,
  now: Instant,
  isSignedElsewhere = false,
): Lifecycle<Key> => ({
  stage: isSignedElsewhere ? "new-parent" : "new",
  since: now,
  keys: [{ ...key, shown: true, signs: true, inParent: true }],
});

/**
 * Signing can end once the parent has had no DS record for as long as caches may keep one. This wait applies even if it
 * never had one.
 */
export const beginGoingInsecure = <Key extends KeyUse>(life: Lifecycle<Key>, now: Instant): Lifecycle<Key> => ({
  ...life,
  stage: "leaving",
  left: life.stage === "leaving" ? life.left : life.stage,
  since: now,
  parentSince: undefined,
});

/**
 * Back to the stage before, whose wait begins again. Until now the zone was signed with the same keys, so nothing in
 * caches contradicts them. The parent may have removed the DS record meanwhile, so a secure zone asks for it again; if
 * the record is still there, the zone is secure when the parent is next queried.
 */
export function cancelGoingInsecure<Key extends KeyUse>(life: Lifecycle<Key>, now: Instant): Lifecycle<Key> {
  const { left = "new", parentSince: _, ...rest } = life;
  return { ...rest, stage: left === "secure" ? "new-parent" : left, since: now };
}
