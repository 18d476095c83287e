import type { Instant } from "../../core/instant.ts";
import { utcSecond } from "../../core/utc-text.ts";
import type { Logger } from "../../process/log.ts";
import { type ManagedRecord, sourcesOf } from "../round/managed-records.ts";
import { oldAddressOf, type Round, type UpdateResult } from "../round/result.ts";
import type { SourceReading } from "../sources/source.ts";
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
  readonly change?: AddressChange;
  /** The id of this change in the state file, until it was reported. */
  readonly event?: string | undefined;
  /** `name`, `source` or `target`: what it is about; `because` and `todo`. */
  readonly fields: Readonly<Record<string, string>>;
};

/** `old` is absent if it is not known. */
export type AddressChange = { readonly old?: string | undefined; readonly new: string };

export type Notify = (notice: Notice) => void;

/** The keys of all trouble that is possible with this config. */
export const troublesOf = (records: readonly ManagedRecord[]): ReadonlySet<string> =>
  new Set([
    "state",
    // A pause ends the trouble of a name without solving it.
    ...records
      .filter(({ paused }) => !paused)
      .flatMap((record) => [
        ...[record.key, `confirm ${record.key}`],
        ...sourcesOf(record).flatMap(({ source }) => [`source ${source}`, `gateways ${source}`]),
      ]),
  ]);

/** Reports changes only: each failure once, and its end once. */
export class Reporter {
  readonly #log: Logger;
  readonly #notify: Notify;
  /** Current failures, as last reported. */
  readonly #failures = new Map<string, string>();
  /** Until when each key waits, as last reported. */
  readonly #waits = new Map<string, Instant>();

  constructor(log: Logger, notify: Notify = () => undefined) {
    this.#log = log;
    this.#notify = notify;
  }

  report({ readings, changed, unsaved, stateShared = false, rateLimitedUntil }: Round): void {
    for (const [source, reading] of readings) this.#source(source, reading);
    if (stateShared) this.#sharedState();
    this.#stateFile(unsaved);
    for (const [target, until] of rateLimitedUntil) this.#rateLimited(target, until);
    for (const result of changed) {
      // Reported above, once for all names of the source, unless it has not answered yet.
      if (result.choice.kind === "unknown" && !isAnyRead(result.record, readings)) continue;
      this.#result(result);
    }
  }

  /** For an aborted round: reports what was done. Its failures are caused by the stop. */
  reportDone({ changed }: Pick<Round, "changed">): void {
    for (const result of changed) {
      const summary = summarySaved(result);
      if (summary.kind === "done") this.#done(result, summary);
    }
  }

  /**
   * Drops trouble with anything that is no longer in the config, without reporting an end. If it comes back, it is
   * reported again.
   */
  forget(isGone: (key: string) => boolean): void {
    for (const key of this.#failures.keys()) if (isGone(key)) this.#failures.delete(key);
  }

  #source(source: string, reading: SourceReading): void {
    if (reading.kind !== "report") {
      this.#failing(`source ${source}`, { source, ...textsOf(reading) }, "addresses could not be read");
      return;
    }
    this.#recovered(`source ${source}`, { source }, "addresses can be read again");
    const { gatewayFault } = reading;
    if (!gatewayFault) this.#recovered(`gateways ${source}`, { source }, "the state of all lines is known again");
    else this.#failing(`gateways ${source}`, { source, ...textsOf(gatewayFault) }, "the state of a line is not known");
  }

  #result(result: UpdateResult): void {
    const { displayName: name, key } = result.record;
    const summary = summarySaved(result);
    const fields = { name, ...textsOf(summary) };
    if (summary.kind === "failed") this.#failing(key, fields, `record ${summary.what}`, causeOf(result, summary));
    if (summary.kind === "none")
      this.#failing(key, fields, "no address; the record is left as it is", causeOf(result, summary));
    if (summary.kind === "waiting") this.#postponed(result, summary);
    if (summary.kind === "nothing") this.#over(result.record);
    if (summary.kind === "done") this.#done(result, summary);
    void result.confirmation?.then((confirmation) => this.#confirmed(`confirm ${key}`, name, confirmation));
  }

  #done(result: UpdateResult, summary: Summary): void {
    this.#over(result.record);
    const { key, displayName: name } = result.record;
    const fields = { name, because: summary.because };
    const { event } = result;
    this.#emit({ kind: "done", key, event, fields, message: `record ${summary.what}`, ...changeOf(result) });
  }

  #over({ key, displayName: name }: ManagedRecord): void {
    this.#recovered(key, { name }, "the problem with this record is over");
  }

  #postponed({ record: { key, displayName: name }, plan }: UpdateResult, { what, because }: Summary): void {
    if (plan.kind !== "wait" || plan.because !== "cap") return;
    this.#waiting(key, plan.until, { name, because }, `record ${what}`);
  }

  #rateLimited(target: string, until: Instant): void {
    const because = "the record service asked moor to wait (Retry-After)";
    const todo = "no action needed: moor waits; *Check now* or SIGUSR1 tries once before then";
    const message = `nothing is written to this target before ${utcSecond(until)}`;
    this.#waiting(`hold ${target}`, until, { target, because, todo }, message);
  }

  #confirmed(key: string, name: string, confirmation: Confirmation): void {
    if (confirmation.kind === "confirmed") return this.#recovered(key, { name }, "DNS returns the new address");
    const fields = { name, ...textsOf(confirmation) };
    this.#failing(key, fields, "DNS does not return the new address", `confirm ${confirmation.because}`);
  }

  #stateFile(unsaved: string | undefined): void {
    if (unsaved === undefined) return this.#recovered("state", {}, "the state file can be written again");
    const because = `${unsaved}: after a restart, unchanged addresses would be written again`;
    const fields = { because, todo: "free disk space or fix the permissions" };
    this.#failing("state", fields, "the state file cannot be written");
  }

  /** Logged only: usually someone ran `moor update --once` by hand, and nobody should be woken for that. */
  #sharedState(): void {
    const because =
      "another `moor update` uses the same file; if the two have stored different addresses for a record, it is written again";
    const todo = "run only one `moor update` per config, and give each config a separate file with `state:`";
    this.#log.warn({ because, todo }, "another process wrote the state file");
  }

  #failing(key: string, fields: Notice["fields"], message: string, cause = key): void {
    // The reason, not the message: a write in doubt and the read after it may fail for the same reason.
    const reason = String(fields.because ?? message);
    if (this.#failures.get(key) === reason) return;
    this.#failures.set(key, reason);
    this.#emit({ kind: "failing", key, cause, fields, message });
  }

  #recovered(key: string, fields: Notice["fields"], message: string): void {
    if (this.#failures.delete(key)) this.#emit({ kind: "over", key, fields, message });
  }

  #waiting(key: string, until: Instant, fields: Notice["fields"], message: string): void {
    if (this.#waits.get(key) === until) return;
    this.#waits.set(key, until);
    this.#emit({ kind: "waiting", key, until, fields, message });
  }

  #emit(notice: Notice): void {
    this.#log[notice.kind === "failing" ? "warn" : "info"](notice.fields, notice.message);
    this.#notify(notice);
  }
}

const isAnyRead = (record: ManagedRecord, readings: Round["readings"]): boolean =>
  sourcesOf(record).some(({ source }) => readings.get(source)?.kind === "report");

/**
 * A service that fails as a whole may give each name a different reason. Otherwise, equal reasons mean the same cause.
 */
function causeOf({ record: { source, target }, outcome }: UpdateResult, { because }: Summary): string {
  if (outcome === undefined) return `source ${source} ${because}`;
  const isWide = "fault" in outcome && outcome.fault.ofService;
  return isWide ? `service ${target}` : `service ${target} ${because}`;
}

const changeOf = (result: UpdateResult): Pick<Notice, "change"> =>
  "address" in result.plan ? { change: { old: oldAddressOf(result), new: result.plan.address.text } } : {};

/** A state file that cannot be written is reported separately, once for all records. */
const summarySaved = (result: UpdateResult) => summarise({ ...result, unsaved: undefined }, true);

const textsOf = ({ because, todo }: { readonly because: string; readonly todo?: string }) => ({
  because,
  ...(todo && { todo }),
});
