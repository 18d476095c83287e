import type { RrsetsZone } from "../../../src/contract/rrsets.ts";

export type DnssecBadge = {
  readonly text: string;
  /** `warn`: the user must do something, or the zone is about to be without protection. */
  readonly tone: "good" | "quiet" | "warn" | "bad";
};

/** How far DNSSEC is, in the few words that fit into a list of zones. Undefined: the zone is not signed. */
export function dnssecBadge({ dnssec }: Pick<RrsetsZone, "dnssec">): DnssecBadge | undefined {
  if (dnssec === null) return undefined;
  if (dnssec.parent_fault !== null) return faults[dnssec.parent_fault] ?? { text: "DNSSEC: check", tone: "warn" };
  return stages[dnssec.stage] ?? { text: "DNSSEC", tone: "quiet" };
}

const faults: Readonly<Record<string, DnssecBadge>> = {
  "wrong-ds": { text: "DNSSEC: wrong DS record", tone: "bad" },
  "no-ds": { text: "DNSSEC: DS record missing", tone: "warn" },
};

const keyChange: DnssecBadge = { text: "DNSSEC: new key", tone: "quiet" };
const dsReplacement: DnssecBadge = { text: "DNSSEC: replace DS record", tone: "warn" };

const stages: Readonly<Record<string, DnssecBadge>> = {
  new: { text: "DNSSEC: starting", tone: "quiet" },
  "new-parent": { text: "DNSSEC: needs DS record", tone: "warn" },
  secure: { text: "DNSSEC", tone: "good" },
  "roll-show": keyChange,
  "roll-parent": dsReplacement,
  "roll-sign": keyChange,
  "algorithm-sign": keyChange,
  "algorithm-show": keyChange,
  "algorithm-parent": dsReplacement,
  "algorithm-hide": keyChange,
  leaving: { text: "DNSSEC: being switched off", tone: "warn" },
};
