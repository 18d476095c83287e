import type { Instant } from "../core/instant.ts";

/** What this process has seen of each name and family, as far as the rules ask for it. A restart forgets it. */
export type Recall = {
  /** The address that is wanted now; undefined when there is none. */
  saw(key: string, address: string | undefined, now: Instant): void;
  steadySince(key: string): Instant | undefined;
  changed(key: string, now: Instant): void;
  changes(key: string): readonly Instant[];
  /** The record was read or written, and held what it should. */
  verified(key: string, now: Instant): void;
  verifiedAt(key: string): Instant | undefined;
};

/** More changes than any cap counts are not kept. */
const mostChanges = 3600;

export function createRecall(): Recall {
  const seen = new Map<string, { readonly address: string; readonly since: Instant }>();
  const changes = new Map<string, Instant[]>();
  const verified = new Map<string, Instant>();
  return {
    saw(key, address, now) {
      if (address === undefined) seen.delete(key);
      else if (seen.get(key)?.address !== address) seen.set(key, { address, since: now });
    },
    steadySince: (key) => seen.get(key)?.since,
    changed(key, now) {
      const kept = [...(changes.get(key) ?? []), now].filter((at) => at <= now && now - at < 3_600_000);
      changes.set(key, kept.slice(-mostChanges));
    },
    changes: (key) => changes.get(key) ?? [],
    verified: (key, now) => void verified.set(key, now),
    verifiedAt: (key) => verified.get(key),
  };
}
