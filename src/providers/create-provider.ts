import { mapFound } from "./answers/list-in.ts";
import { later, noZone } from "./answers/service-answer.ts";
import { isOfService, type Lookup, type ServiceFault } from "./answers/service-fault.ts";
import type { WriteAnswer } from "./answers/write-answer.ts";
import { batches } from "./batches.ts";
import type { Budget } from "./budget.ts";
import type { ChangeOutcome, Provider, ProviderChange } from "./provider.ts";
import type { CurrentContent, CurrentSet, ProviderCalls, ProviderSetChange } from "./provider-calls.ts";
import {
  contentForProvider,
  holdsContent,
  isReadable,
  isUnreadable,
  setFromProvider,
  setNameOf,
} from "./provider-set.ts";
import { isListed, readSets } from "./read-sets.ts";

/** After too many requests, if the provider does not say how long. */
const usualWait = 10_000;

/** What all providers have in common: batches, the check of what was stored, and the budget of the token. */
export function createProvider<Raw>(calls: ProviderCalls<Raw>, budget: Budget, resent = () => 0): Provider {
  const { service, rules } = calls;
  return {
    service,
    rules,
    wait: (zone) => budget.wait(zone),
    zones: (signal) => calls.zones(signal),
    async sets(zone, signal) {
      return mapFound(await calls.sets(zone, signal), (listed) => {
        const served = listed.filter(({ values }) => values.length > 0);
        const all = served.map((set) => setFromProvider(zone, set));
        return { sets: all.filter(isReadable), unreadable: all.filter(isUnreadable) };
      });
    },
    async set(zone, owner, type, signal) {
      const lookup = await calls.read(setNameOf(zone, { owner, type }), signal);
      if (lookup.kind !== "found") return lookup;
      if (!lookup.value?.values.length) return { kind: "found", value: undefined };
      const set = setFromProvider(zone, { name: owner, type, ...lookup.value });
      return isReadable(set) ? { kind: "found", value: set } : unreadable(service, set.because);
    },
    write: (zone, changes, signal) => new ZoneWrite(calls, budget, zone, signal).write(changes),
    resent,
    close: () => calls.close(),
  };
}

/** Some changes of one zone on their way to the provider. */
class ZoneWrite<Raw> {
  readonly #calls: ProviderCalls<Raw>;
  readonly #budget: Budget;
  readonly #zone: string;
  readonly #signal: AbortSignal;
  readonly #outcomes = new Map<ProviderChange, ChangeOutcome>();
  /** Those that the provider probably stored, with its answer. */
  readonly #written = new Map<ProviderChange, Written>();
  /** Why nothing more is sent. */
  #stopped: ServiceFault | undefined;

  constructor(calls: ProviderCalls<Raw>, budget: Budget, zone: string, signal: AbortSignal) {
    this.#calls = calls;
    this.#budget = budget;
    this.#zone = zone;
    this.#signal = signal;
  }

  async write(changes: readonly ProviderChange[]): Promise<readonly ChangeOutcome[]> {
    const { service, rules, batch = { sizeOf: () => 1, most: rules.mostSets } } = this.#calls;
    const pending = this.#isStopped() ? [] : await this.#prepare(changes);
    for (const part of batches(pending, ({ sent }) => batch.sizeOf(sent), batch.most)) await this.#send(part);
    // An earlier write may have ended before the last step.
    const isAlready = [...this.#outcomes.values()].some(({ kind }) => kind === "done");
    await this.#verify();
    const fault = isAlready ? await this.#calls.lastStep?.confirm(this.#zone, this.#signal) : undefined;
    return changes.map((change) => {
      const outcome = this.#outcomes.get(change) ?? notStored(this.#stopped ?? later(`${service} was not asked`));
      return fault && outcome.kind === "done" ? { kind: "unknown", fault } : outcome;
    });
  }

  /** Leaves out what is already as ordered, or not as expected. */
  async #prepare(changes: readonly ProviderChange[]): Promise<readonly Pending<Raw>[]> {
    const { rules } = this.#calls;
    const toRead = changes.filter(({ expected }) => expected !== undefined || rules.needsBefore);
    const read = await this.#read(toRead);
    return changes.flatMap((change) => {
      const lookup = read.get(change);
      const sent = {
        set: setNameOf(this.#zone, change),
        content: change.content && contentForProvider(change.type, change.content),
      };
      if (lookup === undefined) return [{ change, sent }];
      if (lookup.kind !== "found") return this.#end(change, notStored(lookup));
      const current = lookup.value;
      const { expected } = change;
      const isOther =
        expected !== undefined && !this.#holds(change, expected === "missing" ? undefined : expected, current);
      if (this.#holds(change, change.content, current))
        return this.#end(change, { ...done(this.#zone, change, current), ...(isOther && { wasThere: true }) });
      if (isOther) return this.#end(change, { kind: "drifted", set: current && listed(this.#zone, change, current) });
      return [{ change, sent: { ...sent, before: current ?? "missing" } }];
    });
  }

  async #send(part: readonly Pending<Raw>[]): Promise<void> {
    if (this.#isStopped()) return;
    const { lastStep, service } = this.#calls;
    const write = () =>
      this.#calls.write(
        this.#zone,
        part.map(({ sent }) => sent),
        this.#signal,
      );
    const answer = await (lastStep ? lastStep.after(this.#zone, write, this.#signal) : write());
    if (answer.kind !== "refused") {
      if (answer.kind === "unknown") this.#note(answer.fault);
      for (const [at, { change }] of part.entries()) this.#written.set(change, { answer, at });
      return;
    }
    const wasRead = part.some(({ sent }) => sent.before !== undefined);
    const absent = wasRead ? later("another client removed the set at the same time") : noZone(this.#zone, service);
    const fault = answer.because.kind === "absent" ? absent : answer.because;
    this.#note(fault);
    if (part.length === 1 || this.#stopped || fault.kind === "later") {
      for (const { change } of part) this.#end(change, notStored(fault));
      return;
    }
    // One of them is wrong: halves in the same order find it.
    const middle = Math.ceil(part.length / 2);
    await this.#send(part.slice(0, middle));
    await this.#send(part.slice(middle));
  }

  /** A write is done only if the answer or a read after it shows what was ordered. */
  async #verify(): Promise<void> {
    const unclear: ProviderChange[] = [];
    for (const [change, { answer, at }] of this.#written) {
      const stored = answer.kind === "accepted" ? answer.value[at] : undefined;
      if (stored && this.#holds(change, change.content, stored)) this.#end(change, done(this.#zone, change, stored));
      else if (answer.kind === "unknown" && !answer.probablyDone)
        this.#end(change, { kind: "unknown", fault: answer.fault });
      else unclear.push(change);
    }
    for (const [change, lookup] of await this.#read(unclear)) {
      const answer = this.#written.get(change)?.answer;
      if (lookup.kind === "found" && this.#holds(change, change.content, lookup.value))
        this.#end(change, done(this.#zone, change, lookup.value));
      else if (answer?.kind === "unknown") this.#end(change, { kind: "unknown", fault: answer.fault });
      else {
        const fault = lookup.kind === "found" ? otherContent(this.#calls.service) : { ...lookup, afterWrite: true };
        this.#end(change, { kind: "unknown", fault });
      }
    }
  }

  async #read(
    changes: readonly ProviderChange[],
  ): Promise<ReadonlyMap<ProviderChange, Lookup<CurrentSet<Raw> | undefined>>> {
    const first = await this.#readOnce(changes);
    if (!isListed(changes.length, this.#calls.rules)) return first;
    // The pages of a list may have shifted while it was read, and hide a set.
    const isGone = (found: Lookup<unknown> | undefined) => found?.kind === "found" && found.value === undefined;
    const gone = changes.filter((change) => typeof change.expected === "object" && isGone(first.get(change)));
    return gone.length === 0 ? first : new Map([...first, ...(await this.#readOnce(gone))]);
  }

  async #readOnce(
    changes: readonly ProviderChange[],
  ): Promise<ReadonlyMap<ProviderChange, Lookup<CurrentSet<Raw> | undefined>>> {
    const sets = changes.map((change) => setNameOf(this.#zone, change));
    const lookups = await readSets(this.#calls, sets, this.#signal);
    for (const one of lookups) if (one.kind !== "found") this.#note(one);
    return new Map(changes.map((change, at) => [change, lookups[at] ?? { kind: "found", value: undefined }]));
  }

  #holds(change: ProviderChange, content: ProviderChange["content"], current: CurrentContent | undefined): boolean {
    return holdsContent(setNameOf(this.#zone, change), content, current, this.#calls.rules);
  }

  /** Whether the whole provider has failed, or the budget of the token is used up. */
  #isStopped(): boolean {
    const wait = this.#budget.wait(this.#zone);
    if (wait > 0)
      this.#stopped ??= { ...later(`${this.#calls.service} allows no more requests for now`), retryAfter: wait };
    return this.#stopped !== undefined;
  }

  #note(fault: ServiceFault): void {
    if (isOfService(fault)) this.#stopped = fault;
    if (fault.retryAfter === undefined && !fault.throttled) return;
    this.#budget.close(fault.retryAfter ?? usualWait, this.#calls.rules.waitsPerZone ? this.#zone : undefined);
  }

  #end(change: ProviderChange, outcome: ChangeOutcome): [] {
    this.#outcomes.set(change, outcome);
    return [];
  }
}

type Pending<Raw> = { readonly change: ProviderChange; readonly sent: ProviderSetChange<Raw> };

type Written = {
  readonly answer: Exclude<WriteAnswer<readonly (CurrentContent | undefined)[]>, { kind: "refused" }>;
  /** The place of the change in the answer. */
  readonly at: number;
};

const listed = (zone: string, { owner, type }: ProviderChange, current: CurrentContent) =>
  setFromProvider(zone, { name: owner, type, ...current });

function done(zone: string, change: ProviderChange, current: CurrentContent | undefined) {
  const set = current?.values.length ? listed(zone, change, current) : undefined;
  return { kind: "done" as const, set: set && isReadable(set) ? set : undefined };
}

const notStored = (fault: ServiceFault): ChangeOutcome =>
  fault.kind === "later" ? { kind: "waiting", fault, retryAfter: fault.retryAfter ?? 0 } : { kind: "refused", fault };

const otherContent = (service: string): ServiceFault =>
  later(`${service} reported success, but does not hold what was written`, "read the set again");

const unreadable = (service: string, because: string): ServiceFault => ({
  kind: "unsupported",
  because: `moor cannot read what ${service} holds: ${because}`,
  todo: "change the set at the provider",
});
