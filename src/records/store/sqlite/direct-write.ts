import { diffSets } from "../../../core/records/changes.ts";
import type { Zone } from "../../model.ts";
import type { Acted, ActRequest, Decide, DecideAct, Decision, Rule, WriteRequest, WriteView } from "../port.ts";
import type { RoomForRecords } from "../record-limits.ts";
import { effectWith, type WrittenBy } from "../write-effect.ts";
import { type PlannableWrite, planSmall, type SmallWriteLimits } from "./large-writes.ts";
import type { WriteSide } from "./write-side.ts";

/** Sets that a direct write may leave at the names it touches. */
const mostSets = 50;

/** Undefined if the write must be planned; it has then written nothing. Call it inside a transaction. */
export type Direct<T> = (on: WriteSide) => { readonly result: T } | undefined;

/**
 * Undefined if the write is too large to be written with others; it has then written nothing. Call it inside a
 * transaction.
 */
export function writeSmall<T>(
  on: WriteSide,
  write: PlannableWrite<T>,
  direct: Direct<T> | undefined,
  limits: SmallWriteLimits | undefined,
): { readonly result: T } | undefined {
  on.expectAccess(write.command);
  return direct?.(on) ?? planSmall(on, write, limits);
}

/** Undefined: no limits. */
type Room = RoomForRecords | undefined;

/** The rules of everyday writes. */
export function directRule(rule: Rule, room: Room): Direct<unknown> | undefined {
  if (rule.kind === "write") return (on) => writeDirectly(on, room, rule.request, rule.decide);
  return rule.kind === "act" ? (on) => actDirectly(on, room, rule.request, rule.decide) : undefined;
}

/**
 * The everyday write: it reads the sets of a few names, and changes some of them. What it changes in a signed zone is
 * signed when the transaction ends. Anything else is planned first (`plan-writes.ts`).
 */
function writeDirectly<T>(on: WriteSide, room: Room, request: WriteRequest, decide: Decide<T>) {
  if (request.owners === "all") return undefined;
  const view = on.view(request);
  if (view === undefined) return { result: undefined };
  if ("next" in view) return undefined;
  const decided = decide(view);
  return applyDirectly(on, room, request, view, decided) && { result: decided.result };
}

/** The same for a write that is stored as an action. */
function actDirectly<T>(
  on: WriteSide,
  room: Room,
  request: ActRequest,
  decide: DecideAct<T>,
): { readonly result: Acted<T> | "no-zone" | "key-taken" } | undefined {
  const before = on.actions.earlierAnswer<T>(request);
  if (before !== undefined) return { result: before };
  const zone = on.rowCache.zoneBy(request.at);
  if (zone?.account !== request.account) return { result: "no-zone" };
  const view = directView(on, zone, request);
  const decided = view && decide(view);
  if (view === undefined || decided === undefined || "next" in decided || decided.remove) return undefined;
  const { command, remember, result } = decided;
  const after = applyDirectly(on, room, request, view, decided);
  if (after === undefined) return undefined;
  if (command !== undefined || remember)
    return { result: on.actions.keep(after, command, request, result, after !== view.zone) };
  return { result: { result, action: undefined, serial: after.serial } };
}

function directView(on: WriteSide, zone: Zone, request: ActRequest): WriteView | undefined {
  if (request.owners === "all") return undefined;
  const view = on.viewInto(zone, request);
  return "next" in view ? undefined : view;
}

/** The zone after the write. */
function applyDirectly(
  on: WriteSide,
  room: Room,
  by: WrittenBy,
  { zone, sets }: WriteView,
  decision: Decision,
): Zone | undefined {
  const { wanted, settings, serial, renew, keys } = decision;
  const isPlain = settings === undefined && renew === undefined && keys === undefined;
  if (!isPlain || (wanted !== undefined && wanted.length > mostSets)) return undefined;
  const effect = wanted && effectWith(zone, diffSets(sets, wanted), { serial }, by);
  if (effect === undefined) return zone;
  const isSigned = zone.settings.dnssec !== undefined;
  if (isSigned && !on.signingTogether.takes(effect)) return undefined;
  room?.expect(effect.zone, zone.recordCount);
  on.writer.apply(isSigned ? { ...effect, log: [] } : effect, sets);
  if (isSigned) on.signingTogether.add(zone, effect, by);
  return effect.zone;
}
