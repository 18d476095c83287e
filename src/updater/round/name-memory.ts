import type { Instant } from "../../core/instant.ts";
import { changesThatCount, mostChangesPerHour } from "../../core/updates/plan-update.ts";

/** What this process has seen of each name and family, as needed by the rules. Lost on restart. */
export class NameMemory {
  readonly #wanted = new Map<
    string,
    { readonly address: string; readonly since: Instant; readonly isFirst: boolean }
  >();
  readonly #changes = new Map<string, readonly Instant[]>();
  readonly #verified = new Map<string, Instant>();
  readonly #requested = new Set<string>();

  /** The address that is wanted now; undefined if there is none. */
  saw(key: string, address: string | undefined, now: Instant): void {
    const before = this.#wanted.get(key);
    if (address === undefined) this.#wanted.delete(key);
    else if (before?.address !== address) this.#wanted.set(key, { address, since: now, isFirst: before === undefined });
  }

  steadySince(key: string): Instant | undefined {
    return this.#wanted.get(key)?.since;
  }

  /** Whether the address that is wanted now is the first one. */
  isFirst(key: string): boolean {
    return this.#wanted.get(key)?.isFirst ?? true;
  }

  changed(key: string, now: Instant): void {
    const changes = [...this.changes(key), now];
    this.#changes.set(key, changesThatCount(changes, now).slice(-mostChangesPerHour));
  }

  changes(key: string): readonly Instant[] {
    return this.#changes.get(key) ?? [];
  }

  /** The record was read or written, and is correct. */
  verified(key: string, now: Instant): void {
    this.#verified.set(key, now);
    this.#requested.delete(key);
  }

  verifiedAt(key: string): Instant | undefined {
    return this.#verified.get(key);
  }

  /** Somebody wants the record to be read, and corrected if it differs; holds until it is correct. */
  requestVerify(key: string): void {
    this.#requested.add(key);
  }

  isCheckRequested(key: string): boolean {
    return this.#requested.has(key);
  }
}
