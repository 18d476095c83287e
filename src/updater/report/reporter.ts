import type { Instant } from "../../core/instant.ts";
import { utcSecond } from "../../core/utc-text.ts";
import type { Logger } from "../../process/log.ts";
import type { Round, UpdateResult } from "../round/result.ts";
import { originsOf, type Subject } from "../round/subjects.ts";
import type { Confirmation } from "../targets/confirm-dns.ts";
import { type Summary, summarise } from "./describe-round.ts";

/** Something worth reporting: a failure, its end, a replaced record, or one that has to wait. */
export type Notice = {
  readonly kind: "failing" | "over" | "done" | "waiting";
  /** The same for a failure and its end. */
  readonly key: string;
  /** The same for failures that end together, such as all those of one dead service. Default: the key. */
  readonly cause?: string;
  readonly message: string;
  /** When the wait ends. */
  readonly until?: Instant;
  /** The addresses of a record before and after a write. */
  readonly change?: Change;
  /** `name`, `source` or `target`: what it is about; `because` and `todo`. */
  readonly fields: Readonly<Record<string, string>>;
};

/** `old` is absent if it is not known. */
export type Change = { readonly old?: string; readonly new: string };

export type Notify = (notice: Notice) => void;

/** Reports changes only: each failure once, and its end once. */
export type Reporter = {
  report(round: Round): void;
  /** For an aborted round: reports what was done. Its failures are caused by the stop. */
  reportDone(round: Pick<Round, "changed">): void;
  /**
   * Drops trouble with anything that is no longer in the config, without reporting an end. If it comes back, it is reported
   * again.
   */
  forget(isGone: (key: string) => boolean): void;
};

/** The keys of all trouble that is possible with this config. */
export const troublesOf = (subjects: readonly Subject[]): ReadonlySet<string> =>
  new Set([
    "state",
    // A pause ends the trouble of a name without solving it.
    ...subjects
      .filter(({ paused }) => !paused)
      .flatMap((subject) => [
        ...[subject.key, `confirm ${subject.key}`],
        ...originsOf(subject).map(({ source }) => `source ${source}`),
      ]),
  ]);

export function createReporter(log: Logger, notify: Notify = () => undefined): Reporter {
  /** Current failures, as last reported. */
  const reported = new Map<string, string>();

  const emit = (notice: Notice) => {
    log[notice.kind === "failing" ? "warn" : "info"](notice.fields, notice.message);
    notify(notice);
  };
  const failing = (key: string, fields: Notice["fields"], message: string, cause = key) => {
    const text = `${message} ${fields.because}`;
    if (reported.get(key) === text) return;
    reported.set(key, text);
    emit({ kind: "failing", key, cause, fields, message });
  };
  const fine = (key: string, fields: Notice["fields"], message: string) => {
    if (reported.delete(key)) emit({ kind: "over", key, fields, message });
  };

  /** Until when each key waits, as last reported. */
  const waits = new Map<string, Instant>();
  const waiting = (key: string, until: Instant, fields: Notice["fields"], message: string) => {
    if (waits.get(key) === until) return;
    waits.set(key, until);
    emit({ kind: "waiting", key, until, fields, message });
  };
  const held = (target: string, until: Instant) => {
    const because = "the record service asked moor to wait (Retry-After)";
    const todo = "no action needed: moor waits; *Check now* or SIGUSR1 tries once before then";
    waiting(
      `hold ${target}`,
      until,
      { target, because, todo },
      `nothing is written to this target before ${utcSecond(until)}`,
    );
  };
  const heldBack = ({ subject: { key, title: name }, plan }: UpdateResult, { what, because }: Summary) => {
    if (plan.kind === "wait" && plan.because === "cap") waiting(key, plan.until, { name, because }, `record ${what}`);
  };

  const confirmed = (key: string, name: string, confirmation: Confirmation) => {
    if (confirmation.kind === "confirmed") fine(key, { name }, "DNS returns the new address");
    else
      failing(
        key,
        { name, ...textsOf(confirmation) },
        "DNS does not return the new address",
        `confirm ${confirmation.because}`,
      );
  };

  const stateFile = (unsaved: string | undefined) => {
    if (unsaved === undefined) return fine("state", {}, "the state file can be written again");
    const because = `${unsaved}: after a restart, unchanged addresses would be written again`;
    failing("state", { because, todo: "free disk space or fix the permissions" }, "the state file cannot be written");
  };

  /** Logged only: usually someone ran `moor update --once` by hand, and nobody should be woken for that. */
  const sharedState = (isShared: boolean) => {
    if (!isShared) return;
    const because =
      "another `moor update` uses the same file; if the two have stored different addresses for a record, it is written again";
    const todo = "run only one `moor update` per config, and give each config a separate file with `state:`";
    log.warn({ because, todo }, "another process wrote the state file");
  };

  const over = ({ key, title: name }: Subject) => fine(key, { name }, "the problem with this record is over");
  const done = (result: UpdateResult, summary: Summary) => {
    if (summary.kind !== "done") return;
    over(result.subject);
    const { key, title: name } = result.subject;
    const fields = { name, because: summary.because };
    emit({ kind: "done", key, fields, message: `record ${summary.what}`, ...changeOf(result) });
  };

  return {
    report({ readings, changed, unsaved, stateShared = false, holds }) {
      for (const [source, reading] of readings) {
        if (reading.kind === "report") fine(`source ${source}`, { source }, "addresses can be read again");
        else failing(`source ${source}`, { source, ...textsOf(reading) }, "addresses could not be read");
      }
      sharedState(stateShared);
      stateFile(unsaved);
      for (const [target, until] of holds) held(target, until);
      for (const result of changed) {
        const { title: name, key } = result.subject;
        const summary = summarySaved(result);
        // Reported above, once for all names of the source, unless it has not answered yet.
        if (result.choice.kind === "unknown" && !isAnyRead(result.subject, readings)) continue;
        const fields = { name, ...textsOf(summary) };
        if (summary.kind === "failed") failing(key, fields, `record ${summary.what}`, causeOf(result, summary));
        if (summary.kind === "none")
          failing(key, fields, "no address; the record is left as it is", causeOf(result, summary));
        if (summary.kind === "waiting") heldBack(result, summary);
        if (summary.kind === "nothing") over(result.subject);
        done(result, summary);
        void result.confirmation?.then((confirmation) => confirmed(`confirm ${key}`, name, confirmation));
      }
    },
    reportDone({ changed }) {
      for (const result of changed) done(result, summarySaved(result));
    },
    forget(isGone) {
      for (const key of reported.keys()) if (isGone(key)) reported.delete(key);
    },
  };
}

const isAnyRead = (subject: Subject, readings: Round["readings"]): boolean =>
  originsOf(subject).some(({ source }) => readings.get(source)?.kind === "report");

/** A service that fails as a whole may give each name a different reason. Otherwise, equal reasons mean the same cause. */
function causeOf({ subject: { source, target }, outcome }: UpdateResult, { because }: Summary): string {
  if (outcome === undefined) return `source ${source} ${because}`;
  const isWide = "fault" in outcome && outcome.fault.ofService;
  return isWide ? `service ${target}` : `service ${target} ${because}`;
}

/** What the record held counts, or else what moor wrote last. */
function changeOf({ plan, found, stored }: UpdateResult): Pick<Notice, "change"> {
  if (!("address" in plan)) return {};
  const [old = stored] = found?.values ?? [];
  return { change: { ...(old === undefined ? {} : { old }), new: plan.address.text } };
}

/** A state file that cannot be written is reported separately, once for all records. */
const summarySaved = (result: UpdateResult) => summarise({ ...result, unsaved: undefined }, true);

const textsOf = ({ because, todo }: { readonly because: string; readonly todo?: string }) => ({
  because,
  ...(todo === undefined ? {} : { todo }),
});
