import type { Instant } from "../../core/instant.ts";
import { later } from "../../providers/answers/service-answer.ts";
import type { ServiceFault } from "../../providers/answers/service-fault.ts";
import { LateRequests, type SetWork } from "./after-write.ts";
import { isReadableContent, type Theirs } from "./plan-set.ts";
import type { OpenedAccount } from "./provider-accounts.ts";
import type { Work } from "./read-works.ts";
import { type DefaultTtls, isSameContent } from "./set-state.ts";

/** Milliseconds in which a read may still show what the provider held before a write. */
export const staleFor = 15_000;
const noDefaults: DefaultTtls = { here: 0, there: undefined };

export const staleRead = ({ provider: { service } }: OpenedAccount): ServiceFault =>
  later(`${service} still shows what it held before the last write`);

/** What was replaced at the provider a moment ago: nothing is known from a read that shows it. */
export class ReplacedContent {
  readonly #contents = new LateRequests(staleFor);

  /** `works` were stored as `saved`. */
  note(works: readonly SetWork[], saved: readonly SetWork[], now: Instant): void {
    const before = new Map(works.map(({ key, stored }) => [key, stored?.held ?? null]));
    for (const { key, row } of saved) {
      const held = before.get(key) ?? null;
      if (!isSameContent(held, row.held, noDefaults)) this.#contents.add(key, held, now);
    }
  }

  isShown({ key, ours, row }: Work, theirs: Theirs, ttls: DefaultTtls, now: Instant): boolean {
    const { held, sent, at } = row;
    if (!isReadableContent(theirs)) return false;
    if (isSameContent(held, theirs, ttls)) {
      // What was sent may be there. If it is to be sent again, that finds out.
      const isInDoubt = sent !== undefined && !isSameContent(sent, held, ttls) && isSameContent(ours, held, ttls);
      return isInDoubt && at <= now && now < at + staleFor;
    }
    return this.#contents.of(key, now).some((content) => isSameContent(content, theirs, ttls));
  }
}
