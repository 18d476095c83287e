import type { Instant } from "../../core/instant.ts";
import type { ServiceWait } from "../../core/updates/plan-update.ts";
import type { NameState } from "./name-state.ts";
import type { Recall } from "./recall.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

export type DueFacts = {
  readonly state: Pick<StateFile, "get">;
  readonly recall: Pick<Recall, "verifiedAt">;
  readonly notBefore: (subject: Subject) => ServiceWait | undefined;
  readonly interval: number;
  readonly now: Instant;
};

/** When a name must be planned again even if its source reports nothing new; undefined if never. */
export function dueAt(subject: Subject, { kind, latest: { plan } }: NameState, facts: DueFacts): Instant | undefined {
  switch (kind) {
    case "unread":
    // Without an address there is nothing to compare the record with, until the source reports something new.
    case "idle":
    case "queued":
    case "writing":
      return undefined;
    case "waiting":
      // The reason to wait may have ended since it was planned.
      if (plan.kind === "wait" && (plan.because === "hold-down" || plan.because === "cap")) return plan.until;
      return facts.notBefore(subject)?.until ?? facts.now;
    case "refused":
    case "in-doubt":
      return facts.notBefore(subject)?.until ?? nextLookAtRecord(subject, facts);
    case "up-to-date":
      return nextLookAtRecord(subject, facts);
    default:
      return kind satisfies never;
  }
}

function nextLookAtRecord({ key, rules }: Subject, { state, recall, interval, now }: DueFacts): Instant | undefined {
  const every = rules.compare === "record" ? interval : rules.verify;
  if (every === undefined) return undefined;
  const stored = Date.parse(state.get(key)?.storedAt ?? "");
  return (recall.verifiedAt(key) ?? (Number.isNaN(stored) ? now : stored)) + every;
}

export function earliest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : known.reduce((a, b) => Math.min(a, b));
}
