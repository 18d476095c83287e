import type { Instant } from "../../core/instant.ts";
import { changesThatCount, mostChangesPerHour } from "../../core/updates/plan-update.ts";

/** What this process has seen of each name and family, as needed by the rules. Lost on restart. */
export type Recall = {
  /** The address that is wanted now; undefined if there is none. */
  saw(key: string, address: string | undefined, now: Instant): void;
  steadySince(key: string): Instant | undefined;
  /** Whether the address that is wanted now is the first one. */
  isFirst(key: string): boolean;
  changed(key: string, now: Instant): void;
  changes(key: string): readonly Instant[];
  /** The record was read or written, and is correct. */
  verified(key: string, now: Instant): void;
  verifiedAt(key: string): Instant | undefined;
  /** Somebody wants the record to be read, and corrected if it differs; holds until it is correct. */
  ask(key: string): void;
  isAsked(key: string): boolean;
};

export function createRecall(): Recall {
  const seen = new Map<string, { readonly address: string; readonly since: Instant; readonly isFirst: boolean }>();
  const changes = new Map<string, readonly Instant[]>();
  const verified = new Map<string, Instant>();
  const asked = new Set<string>();
  return {
    saw(key, address, now) {
      if (address === undefined) seen.delete(key);
      else if (seen.get(key)?.address !== address) seen.set(key, { address, since: now, isFirst: !seen.has(key) });
    },
    steadySince: (key) => seen.get(key)?.since,
    isFirst: (key) => seen.get(key)?.isFirst ?? true,
    changed(key, now) {
      const known = [...(changes.get(key) ?? []), now];
      changes.set(key, changesThatCount(known, now).slice(-mostChangesPerHour));
    },
    changes: (key) => changes.get(key) ?? [],
    verified(key, now) {
      verified.set(key, now);
      asked.delete(key);
    },
    verifiedAt: (key) => verified.get(key),
    ask: (key) => void asked.add(key),
    isAsked: (key) => asked.has(key),
  };
}
