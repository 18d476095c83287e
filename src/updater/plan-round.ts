import { type Family, recordTypeOf } from "../core/address.ts";
import { type Choice, type Considered, chooseAddress } from "../core/choose-address.ts";
import type { Instant } from "../core/instant.ts";
import { absoluteName } from "../core/name.ts";
import { type Plan, planUpdate } from "../core/plan-update.ts";
import type { NameConfig, UpdaterConfig } from "./config.ts";
import { longestHold } from "./retry-after.ts";
import type { SourceReading } from "./source.ts";
import type { StateFile } from "./state-file.ts";
import type { ReplaceOrder } from "./target.ts";

/** One name and one family: what decisions are made about, each apart from all others. */
export type Subject = {
  /** Where its last written address is stored: another service or name never takes it over. */
  readonly key: string;
  /** `home.example.org A` */
  readonly title: string;
  readonly family: Family;
  readonly device: string;
  readonly source: string;
  readonly target: string;
  readonly order: Omit<ReplaceOrder, "value">;
};

export type PlannedUpdate = {
  readonly subject: Subject;
  readonly choice: Choice;
  readonly considered: readonly Considered[];
  readonly stored: string | undefined;
  readonly plan: Plan;
  /** Set when the address is not known: why, and what to do. */
  readonly trouble?: { readonly because: string; readonly todo: string };
};

export type RoundFacts = {
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly state: Pick<StateFile, "get" | "hold">;
  /** Our own back-off after a failed write. */
  readonly notBefore: (key: string) => Instant | undefined;
  readonly now: Instant;
};

export function planRound(config: UpdaterConfig, facts: RoundFacts): readonly PlannedUpdate[] {
  return subjectsOf(config).map((subject) => planSubject(config, subject, facts));
}

export function subjectsOf(config: UpdaterConfig): readonly Subject[] {
  return config.names.flatMap((name) => [...name.families.keys()].map((family) => subjectOf(config, name, family)));
}

function subjectOf({ targets }: UpdaterConfig, entry: NameConfig, family: Family): Subject {
  const { name, zone, source, target, ttl, families } = entry;
  const wanted = families.get(family);
  const type = recordTypeOf(family);
  return {
    key: `${targets.get(target)?.url.href} ${zone} ${name} ${type}`,
    title: `${absoluteName(name, zone)} ${type}`,
    family,
    device: wanted?.device ?? "",
    source,
    target,
    order: {
      zone,
      name,
      family,
      ...(ttl === undefined ? {} : { ttl }),
      ...(wanted?.recordId === undefined ? {} : { recordId: wanted.recordId }),
    },
  };
}

function planSubject(config: UpdaterConfig, subject: Subject, facts: RoundFacts): PlannedUpdate {
  const reading = facts.readings.get(subject.source);
  const { choice, considered } =
    reading?.kind === "report"
      ? chooseAddress(reading.report, subject)
      : { choice: { kind: "unknown" as const, because: reading?.because ?? "not read" }, considered: [] };
  const stored = facts.state.get(subject.key)?.address;
  const notBefore = latest(holdOf(config, subject, facts), facts.notBefore(subject.key));
  const plan = planUpdate({ family: subject.family, choice, stored, notBefore, now: facts.now });
  const trouble = troubleOf(choice, subject, reading);
  return { subject, choice, considered, stored, plan, ...(trouble ? { trouble } : {}) };
}

/** A hold further away than any service may ask for comes from a clock that was wrong. */
function holdOf(config: UpdaterConfig, { target }: Subject, { state, now }: RoundFacts): Instant | undefined {
  const until = state.hold(holdKey(config, target));
  return until !== undefined && until - now <= longestHold ? until : undefined;
}

export const holdKey = ({ targets }: UpdaterConfig, target: string): string => targets.get(target)?.url.href ?? target;

function troubleOf(choice: Choice, { source }: Subject, reading: SourceReading | undefined): PlannedUpdate["trouble"] {
  if (reading?.kind === "unavailable") return { because: reading.because, todo: reading.todo };
  if (choice.kind !== "unknown-interface") return undefined;
  return {
    because: `the firewall ${source} has no interface ${choice.device}`,
    todo: choice.known.length === 0 ? "it reports none at all" : `those it has are ${choice.known.join(", ")}`,
  };
}

function latest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
