import { parseAddress } from "../../core/addresses/address.ts";
import type { Instant } from "../../core/instant.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import { confirmDns } from "../targets/confirm-dns.ts";
import type { RecordTarget, TargetFault, WriteOutcome } from "../targets/target.ts";
import type { NameMemory } from "./name-memory.ts";
import type { PendingWrite } from "./name-state.ts";
import type { PlannedUpdate } from "./plan.ts";
import { oldAddressOf, type UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";

/** Milliseconds for a write, including look-ups and the wait for its action. */
const longestWrite = 90_000;

export const withTimeout = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(longestWrite)]);

/** What a write needs of the state file. */
type StoredAddresses = Pick<StateFile, "get" | "set" | "markInDoubt" | "leaveBatch">;

export type WriteTools = {
  readonly target: RecordTarget;
  readonly state: StoredAddresses;
  readonly memory: NameMemory;
  readonly now: () => Instant;
  /** For a service that takes both addresses of a name in one call. */
  readonly otherAddress?: string | undefined;
  /** The keys of names that are about to be written too. */
  readonly next?: () => readonly string[];
  /** Keeps a change in the state file until it was reported, if anybody wants to know; returns its id. */
  readonly noteEvent?: StateFile["noteEvent"] | undefined;
};

/** Reads the record first if planned, marks the stored address as in doubt, writes, and stores the outcome. */
export async function writeRecord(update: PendingWrite, tools: WriteTools, signal: AbortSignal): Promise<UpdateResult> {
  const { record, plan } = update;
  const { target, state, memory, now, next, otherAddress } = tools;
  const value = plan.address.text;
  const before = plan.kind === "compare" ? await target.current(record.spec, signal) : undefined;
  if (before && before.kind !== "found" && !(before.kind === "missing" && record.spec.create)) {
    await state.leaveBatch(record.key).catch(() => undefined);
    return refusedUnsent(update, before);
  }
  const contentBefore = before?.kind === "found" ? before.value : undefined;
  if (contentBefore && isRight(contentBefore, update, state) && (!target.isServedLater || isStored(update, state))) {
    memory.verified(record.key, now());
    await state.leaveBatch(record.key).catch(() => undefined);
    return storeAddress({ ...update, outcome: { kind: "same" }, contentBefore }, value, contentBefore, tools);
  }
  const doubt = await markInDoubt(record.key, state, next);
  const request = { ...record.spec, value, otherAddress };
  const outcome = await target.replace(request, signal);
  if (outcome.kind === "refused") await doubt.remove();
  return storeOutcome({ ...update, ...(contentBefore && { contentBefore }) }, outcome, doubt, tools);
}

/**
 * Stores what is known after a write. A record that held the address before was not replaced, unless by an earlier
 * write in doubt.
 */
export async function storeOutcome(
  update: PendingWrite,
  outcome: WriteOutcome,
  doubt: Pick<DoubtMark, "wasInDoubt">,
  tools: WriteTools,
): Promise<UpdateResult> {
  const { record, plan } = update;
  const { memory, now } = tools;
  const result: UpdateResult = { ...update, outcome };
  if (outcome.kind !== "done") return result;
  memory.verified(record.key, now());
  if (outcome.already && (plan.kind === "compare" || !doubt.wasInDoubt)) {
    return storeAddress({ ...update, outcome: { kind: "same" } }, plan.address.text, outcome, tools);
  }
  memory.changed(record.key, now());
  // Saved with the address, which is in doubt until then: a crash before leads to another write, with its own event.
  const change = { old: oldAddressOf(result), new: plan.address.text };
  const at = new Date(now()).toISOString();
  const event = tools.noteEvent?.({ name: record.displayName, ...change, at, done: [] });
  return storeAddress({ ...result, event }, plan.address.text, outcome, tools);
}

/** With `confirm:`, checks DNS after a write. */
export function withConfirmation(result: UpdateResult, signal: AbortSignal): UpdateResult {
  const { record, plan, outcome } = result;
  const { confirm } = record.rules;
  if (!confirm || outcome?.kind !== "done" || !("address" in plan)) return result;
  const { zone, name, family } = record.spec;
  const request = { zone, name: absoluteName(name, zone), family, value: plan.address.text, servers: confirm.servers };
  return { ...result, confirmation: confirmDns(request, signal) };
}

export const refusedUnsent = (update: PlannedUpdate, fault: TargetFault): UpdateResult => ({
  ...update,
  outcome: { kind: "refused", fault },
});

/**
 * Marks the stored address as in doubt before another one is sent. Otherwise, if we are killed or the answer is lost,
 * it would be trusted although the record holds another. A failing disk does not stop the write.
 */
export async function markInDoubt(
  key: string,
  state: StoredAddresses,
  next: () => readonly string[] = () => [],
): Promise<DoubtMark> {
  const storedEntry = state.get(key);
  await state.markInDoubt(key, next).catch(() => undefined);
  if (storedEntry === undefined) return { wasInDoubt: false, remove: async () => undefined };
  return { wasInDoubt: storedEntry.inDoubt === true, remove: () => state.set(key, storedEntry).catch(() => undefined) };
}

/** `wasInDoubt`: the outcome of an earlier write is unknown. `remove` removes the mark. */
export type DoubtMark = { readonly wasInDoubt: boolean; readonly remove: () => Promise<void> };

/** Whether a write of this address was confirmed, and none has begun since then. */
function isStored({ record, plan }: PendingWrite, state: StoredAddresses): boolean {
  const storedEntry = state.get(record.key);
  return storedEntry?.address === plan.address.text && !storedEntry.inDoubt;
}

export function isRight(
  { values, ttl }: CurrentContent,
  { record, plan }: PendingWrite,
  state: StoredAddresses,
): boolean {
  if (values.length !== 1 || parseAddress(values[0] ?? "")?.text !== plan.address.text) return false;
  const wanted = record.spec.ttl;
  if (wanted === undefined || ttl === wanted) return true;
  // Otherwise a service that supports only certain TTLs would get the same write after every read.
  const storedEntry = state.get(record.key);
  return storedEntry?.ttl === wanted && storedEntry.ttlKept === ttl;
}

async function storeAddress(
  result: UpdateResult,
  value: string,
  { ttl }: Pick<CurrentContent, "ttl">,
  { state, now }: WriteTools,
): Promise<UpdateResult> {
  const { key, spec } = result.record;
  const storedEntry = state.get(key);
  const isKnown =
    storedEntry?.address === value && !storedEntry.inDoubt && (spec.ttl ?? storedEntry.ttl) === storedEntry.ttl;
  if (result.outcome?.kind === "same" && isKnown) return result;
  const ttlFields = spec.ttl === undefined ? {} : { ttl: spec.ttl, ...(ttl !== spec.ttl && { ttlKept: ttl }) };
  try {
    await state.set(key, { address: value, storedAt: new Date(now()).toISOString(), ...ttlFields });
    return result;
  } catch (error) {
    return { ...result, unsaved: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
