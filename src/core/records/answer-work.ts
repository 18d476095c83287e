/**
 * What the answer to one query may cost. The limits do not depend on the zone: its owner must not decide how long other
 * zones wait. Ordinary zones stay far below them; an answer that reaches one lacks what it would still need: the rest
 * of a chain of aliases, additional addresses, or a proof.
 */
export const answerLimits = {
  /** Aliases followed. Resolvers follow the rest of a longer chain themselves, or give up. */
  links: 8,
  /** What an alias made by a DNAME counts as: it is a new name for each query, and costs more than a stored one. */
  linksPerDname: 3,
  /** Labels of the names that aliases lead to. */
  aliasLabels: 64,
  /** Hosts whose addresses are looked up for the additional section. Of a referral too: some servers are enough. */
  hosts: 20,
  /** Labels of their names. */
  labels: 96,
  /** Sets that prove the aliases of a chain; each wildcard in it needs one, with its signatures. */
  proofs: 8,
  /**
   * Blocks hashed by SHA-1: three names with the most iterations (`isAffordable`), as a proof needs, or dozens without.
   */
  blocks: 168,
  /** Names looked at to find an NSEC record: a complete chain needs at most one per label of a name. */
  steps: 256,
  /** NSEC3 records of other chains that are skipped. While one replaces another, half of the records are of each. */
  otherChains: 16,
  /**
   * Signatures of one set, and covered types if only signatures are queried: two keys of two algorithms, each for keys
   * and for other sets.
   */
  signatures: 8,
} as const;

/** What an answer has cost so far. */
export type AnswerWork = { labels: number; blocks: number; steps: number };

export const noWork = (): AnswerWork => ({ labels: 0, blocks: 0, steps: 0 });
