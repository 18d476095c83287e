import type { ServiceWait, UpdatePlan } from "../../core/updates/plan-update.ts";
import type { TargetFault } from "../targets/target.ts";
import type { PlannedUpdate } from "./plan.ts";
import type { UpdateResult } from "./result.ts";

/** The state of one name and family at its record service. The test next to this file lists all transitions. */
export type NameState =
  | {
      readonly kind: /** Its source has not answered yet. */
        | "unread"
        /**
         * Nothing to write: no publishable address, its firewall is not the CARP master, or its source cannot be read.
         */
        | "idle"
        | "up-to-date"
        /** To be written, but not now: Retry-After, back-off, holdDown or changesPerHour. */
        | "waiting"
        /** The service stored nothing. */
        | "refused"
        /** The outcome of the write is unknown; the state file keeps the mark until the record is read or written. */
        | "in-doubt";
      readonly latest: UpdateResult;
      readonly alone?: true;
    }
  /** In the queue of its service. A newer plan replaces this one. `alone`: not to be written together with others. */
  | { readonly kind: "queued"; readonly latest: PendingWrite; readonly alone?: true }
  /** Being written. `outdated`: something else was planned since. */
  | { readonly kind: "writing"; readonly latest: PendingWrite; readonly outdated: boolean };

export type NameEvent =
  /** Its source was read, or something was due. */
  | { readonly kind: "planned"; readonly update: PlannedUpdate }
  /** Its turn in the queue came, and it is being sent. */
  | { readonly kind: "dequeued" }
  /** Its turn came, but the service must not be asked yet. `fault`: it is down, as another name has found. */
  | { readonly kind: "postponed"; readonly wait: ServiceWait; readonly fault?: TargetFault }
  /** Its turn came, but we are shutting down. */
  | { readonly kind: "stopped" }
  /** The service refused to write it together with others, perhaps because of one of those. */
  | { readonly kind: "write-alone" }
  /** The service answered, or timed out. */
  | { readonly kind: "ended"; readonly result: UpdateResult };

export type NameAction =
  /** Join the queue of the service. */
  | "enqueue"
  /** Read the source and plan again. */
  | "plan-again";

export type PendingWrite = PlannedUpdate & { readonly plan: Extract<UpdatePlan, { kind: "replace" | "compare" }> };

type Next = { readonly state: NameState; readonly action?: NameAction };

export function nextState(state: NameState, event: NameEvent): Next {
  switch (event.kind) {
    case "planned":
      return planned(state, event.update);
    case "dequeued":
      return state.kind === "queued"
        ? { state: { kind: "writing", latest: state.latest, outdated: false } }
        : { state };
    case "postponed":
      return state.kind === "queued"
        ? { state: { kind: "waiting", latest: postponed(state.latest, event.wait, event.fault), ...aloneIn(state) } }
        : { state };
    case "stopped":
      return state.kind === "queued" ? { state: { kind: "idle", latest: state.latest } } : { state };
    case "write-alone":
      return writeAlone(state);
    case "ended":
      return ended(state, event.result);
    default:
      return event satisfies never;
  }
}

function planned(state: NameState, update: PlannedUpdate): Next {
  const isUnknown = update.plan.kind === "nothing" && update.plan.because === "unknown";
  switch (state.kind) {
    case "queued":
      // A source that cannot be read does not revoke its last reading.
      if (isUnknown) return { state };
      return { state: isPendingWrite(update) ? { ...state, latest: update } : restingAt(update, state) };
    case "writing":
      return { state: { ...state, outdated: isUnknown ? state.outdated : !isSameAddress(state.latest, update) } };
    default:
      return isPendingWrite(update)
        ? { state: { kind: "queued", latest: update, ...aloneIn(state) }, action: "enqueue" }
        : { state: restingAt(update, state) };
  }
}

/** A record that was refused does not delay others again: until its next success, it is written alone. */
function aloneIn(state: Exclude<NameState, { kind: "writing" }>): Pick<typeof state, "alone"> {
  const { outcome, plan } = state.latest as UpdateResult;
  const isSent = outcome?.kind === "refused" && plan.kind !== "wait";
  const isRefused = isSent && outcome.fault.kind !== "later" && !outcome.fault.ofService;
  return state.alone || isRefused ? { alone: true } : {};
}

function writeAlone(state: NameState): Next {
  if (state.kind !== "writing") return { state };
  const { latest, outdated } = state;
  if (outdated) return { state: { kind: "idle", latest }, action: "plan-again" };
  return { state: { kind: "queued", latest, alone: true }, action: "enqueue" };
}

function ended(state: NameState, result: UpdateResult): Next {
  if (state.kind !== "writing") return { state };
  const next: NameState = { kind: kindAfter(result.outcome), latest: result };
  return state.outdated ? { state: next, action: "plan-again" } : { state: next };
}

function kindAfter(outcome: UpdateResult["outcome"]) {
  if (outcome?.kind === "unknown") return "in-doubt";
  return outcome?.kind === "refused" ? "refused" : "up-to-date";
}

function restingAt(update: PlannedUpdate, before: Parameters<typeof aloneIn>[0]): NameState {
  if (update.plan.kind === "wait") return { kind: "waiting", latest: update, ...aloneIn(before) };
  const isUpToDate = update.plan.kind === "nothing" && update.plan.because === "same-as-stored";
  return { kind: isUpToDate ? "up-to-date" : "idle", latest: update };
}

export const postponed = (update: PendingWrite, wait: ServiceWait, fault?: TargetFault): UpdateResult => ({
  ...update,
  plan: { kind: "wait", ...wait, address: update.plan.address },
  ...(fault && { outcome: { kind: "refused", fault } }),
});

export const isPendingWrite = (update: PlannedUpdate): update is PendingWrite =>
  update.plan.kind === "replace" || update.plan.kind === "compare";

const isSameAddress = (one: PendingWrite, other: PlannedUpdate): boolean =>
  isPendingWrite(other) && one.plan.address.text === other.plan.address.text;
