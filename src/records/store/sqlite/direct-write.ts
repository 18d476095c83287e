import { diffSets } from "../../../core/records/changes.ts";
import { isSteps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import type {
  ActionRequest,
  ActionResult,
  Decide,
  DecideAction,
  Decision,
  Rule,
  WriteRequest,
  WriteView,
} from "../port.ts";
import type { RecordQuota } from "../record-limits.ts";
import { unsignedEffect } from "../signed/plan-step.ts";
import { effectWith, type WrittenBy } from "../write-effect.ts";
import { type PlannableWrite, type SmallWriteLimits, writePlannedIfSmall } from "./planned-write.ts";
import type { WriteConnection } from "./write-connection.ts";

/** Sets that a direct write may leave at the names it touches. */
const mostSets = 50;

/** Undefined if the write must be planned; it has then written nothing. Call it inside a transaction. */
export type DirectWrite<T> = (connection: WriteConnection) => { readonly result: T } | undefined;

/**
 * Undefined if the write is too large to be written with others; it has then written nothing. Call it inside a
 * transaction.
 */
export function writeSmall<T>(
  connection: WriteConnection,
  write: PlannableWrite<T>,
  direct: DirectWrite<T> | undefined,
  limits: SmallWriteLimits | undefined,
): { readonly result: T } | undefined {
  connection.expectAccess(write.command);
  return direct?.(connection) ?? writePlannedIfSmall(connection, write, limits);
}

/** Undefined: no limits. */
type Quota = RecordQuota | undefined;

/** The rules of everyday writes. */
export function directWrite(rule: Rule, recordQuota: Quota): DirectWrite<unknown> | undefined {
  if (rule.kind === "write") return (connection) => writeDirectly(connection, recordQuota, rule.request, rule.decide);
  return rule.kind === "action"
    ? (connection) => actDirectly(connection, recordQuota, rule.request, rule.decide)
    : undefined;
}

/**
 * The everyday write: it reads the sets of a few names, and changes some of them. What it changes in a signed zone is
 * signed afterwards. Anything else is planned first (`plan-writes.ts`).
 */
function writeDirectly<T>(connection: WriteConnection, recordQuota: Quota, request: WriteRequest, decide: Decide<T>) {
  if (request.owners === "all") return undefined;
  const view = connection.view(request);
  if (view === undefined) return { result: undefined };
  if (isSteps(view)) return undefined;
  const decided = decide(view);
  return applyDirectly(connection, recordQuota, request, view, decided) && { result: decided.result };
}

/** The same for a write that is stored as an action. */
function actDirectly<T>(
  connection: WriteConnection,
  recordQuota: Quota,
  request: ActionRequest,
  decide: DecideAction<T>,
): { readonly result: ActionResult<T> | "no-zone" | "key-taken" } | undefined {
  const before = connection.actions.earlierAnswer<T>(request);
  if (before !== undefined) return { result: before };
  const zone = connection.rowCache.zoneBy(request.at);
  if (zone?.account !== request.account) return { result: "no-zone" };
  const view = directView(connection, zone, request);
  const decided = view && decide(view);
  if (view === undefined || decided === undefined || isSteps(decided) || decided.remove) return undefined;
  const { actionName, remember, result } = decided;
  const after = applyDirectly(connection, recordQuota, request, view, decided);
  if (after === undefined) return undefined;
  if (actionName !== undefined || remember)
    return { result: connection.actions.keep(after, actionName, request, result, after !== view.zone) };
  return { result: { result, action: undefined, serial: after.serial } };
}

function directView(connection: WriteConnection, zone: Zone, request: ActionRequest): WriteView | undefined {
  if (request.owners === "all") return undefined;
  const view = connection.viewInto(zone, request);
  return isSteps(view) ? undefined : view;
}

/** The zone after the write. */
function applyDirectly(
  connection: WriteConnection,
  recordQuota: Quota,
  by: WrittenBy,
  { zone, sets }: WriteView,
  decision: Decision,
): Zone | undefined {
  const { wanted, settings, serial, renew, keys } = decision;
  const isPlain = settings === undefined && renew === undefined && keys === undefined;
  if (!isPlain || (wanted !== undefined && wanted.length > mostSets)) return undefined;
  const effect = wanted && effectWith(zone, diffSets(sets, wanted), { serial }, by);
  if (effect === undefined) return zone;
  recordQuota?.assertWithin(effect.zone, zone.recordCount);
  const isSigned = zone.settings.dnssec !== undefined;
  if (isSigned) connection.expectSignable(effect, connection.signer, by.now);
  connection.writer.apply(isSigned ? unsignedEffect(effect, by) : effect, sets);
  return effect.zone;
}
