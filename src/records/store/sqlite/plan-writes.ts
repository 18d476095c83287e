import { diffingSets } from "../../../core/records/changes.ts";
import { inSteps, type Steps } from "../../../core/steps.ts";
import type { NewZone, Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import type {
  ActionResult,
  ActionRule,
  Decision,
  NotCreated,
  Rule,
  RunningAction,
  WriteAllRule,
  WriteRule,
  WriteView,
} from "../port.ts";
import type { RecordQuota } from "../record-limits.ts";
import { concernsSigning, unsignedEffect } from "../signed/plan-step.ts";
import { type AsidesByZone, asideNeeded } from "../signed/sign-aside.ts";
import { effectWith, firstLogged, type WriteEffect, type WrittenBy, zoneTried } from "../write-effect.ts";
import type { Plan, PlannedWrite, Planning } from "./planned-write.ts";
import type { WriteConnection } from "./write-connection.ts";

export type PlanOptions = {
  /** Without a signer, zones cannot be signed. */
  readonly signer: Signer | undefined;
  /** Absent: no limits. */
  readonly recordQuota?: RecordQuota | undefined;
  /** All names of a large zone are signed with its changes, because there is only one connection. */
  readonly inOnePiece?: boolean | undefined;
  /** As in `Command`. */
  readonly isTrial?: boolean | undefined;
};

/** What a rule does to the rows, in steps. */
export function planningOf(options: PlanOptions, rule: Rule, running?: RunningAction): Planning<unknown> {
  switch (rule.kind) {
    case "write":
      return planningOne(options, rule);
    case "write-all":
      return planningAll(options, rule);
    case "action":
      return planningAction(options, rule, running);
    case "create":
      return planningCreate(rule.zone, { actor: rule.actor, now: rule.zone.created }, options, {
        keep: (_, createdZone) => createdZone,
      });
    case "create-action": {
      const { zone, action } = rule;
      return planningCreate<ActionResult<Zone> | "key-taken">(
        zone,
        { actor: action.actor, now: zone.created },
        options,
        {
          earlierAnswer: (connection) => connection.actions.earlierAnswer<Zone>(action),
          keep: (connection, createdZone) =>
            connection.actions.keep(createdZone, action.actionName, action, createdZone, false),
        },
      );
    }
    default:
      return rule satisfies never;
  }
}

const planningOne = <T>(options: PlanOptions, { request, decide }: WriteRule<T>): Planning<T | undefined> =>
  function* (connection, asides) {
    const view = yield* inSteps(connection.view(request));
    if (view === undefined) return { writes: [], finish: () => undefined };
    const decision = decide(view);
    return {
      writes: yield* planningWrite({ ...options, asides }, connection, request, view, decision),
      finish: () => decision.result,
    };
  };

const planningAll = <T>(options: PlanOptions, { requests, decide }: WriteAllRule<T>): Planning<T> =>
  function* (connection, asides) {
    const views = [];
    for (const request of requests) views.push(yield* inSteps(connection.view(request)));
    const { decisions, result } = yield* inSteps(decide(views));
    const writes = [];
    for (const [i, request] of requests.entries()) {
      const [view, decision] = [views[i], decisions[i]];
      if (view !== undefined && decision !== undefined)
        writes.push(...(yield* planningWrite({ ...options, asides }, connection, request, view, decision)));
    }
    return { writes, finish: () => result };
  };

const planningAction = <T>(
  options: PlanOptions,
  { request, decide }: ActionRule<T>,
  running: RunningAction | undefined,
): Planning<ActionResult<T> | "no-zone" | "key-taken"> =>
  function* (connection, asides): Steps<Plan<ActionResult<T> | "no-zone" | "key-taken">> {
    const before = connection.actions.earlierAnswer<T>(request);
    const zone = connection.rowCache.zoneBy(request.at);
    if (before !== undefined || zone?.account !== request.account)
      return { writes: [], finish: () => before ?? "no-zone" };
    const view = yield* inSteps(connection.viewInto(zone, request));
    const { actionName, remember, remove, result, ...decision } = yield* inSteps(decide(view));
    const writes = yield* planningWrite(
      { ...options, asides },
      connection,
      request,
      view,
      remove ? { wanted: [] } : decision,
      remove,
    );
    if (options.isTrial) return { writes: [], finish: () => ({ result, action: undefined, serial: zone.serial }) };
    const after = writes[0]?.after ?? zone;
    const isChanged = !remove && writes.length > 0;
    return {
      writes,
      isCurrent: (connection) => connection.actions.earlierAnswer(request) === undefined,
      finish: (connection) => {
        if (remove) connection.removeZone(after, zone);
        return actionName === undefined && !remember
          ? { result, action: undefined, serial: after.serial }
          : connection.actions.keep(after, actionName, { ...request, ...(running && { running }) }, result, isChanged);
      },
    };
  };

type WriteOptions = PlanOptions & { readonly asides: AsidesByZone | undefined };

/** What changes a signed zone is signed afterwards; what is to be signed before that is returned as `needs`. */
function followed(
  { signer, asides, inOnePiece, isTrial }: WriteOptions,
  connection: WriteConnection,
  by: WrittenBy,
  zone: Zone,
  effect: WriteEffect,
  renew: Decision["renew"],
): Pick<PlannedWrite, "needs"> & { readonly effect: WriteEffect } {
  if (isTrial || !concernsSigning(zone, effect.zone)) return { effect };
  connection.expectSignable(effect, signer, by.now);
  const needs = inOnePiece ? undefined : asideNeeded(zone, effect, by, renew, asides);
  return { effect: unsignedEffect(effect, by, renew, asides?.get(zone.number)), needs };
}

function* planningWrite(
  options: WriteOptions,
  connection: WriteConnection,
  by: WrittenBy,
  { zone, sets }: WriteView,
  { wanted, settings, serial, renew, keys }: Decision,
  isRemoved = false,
): Steps<readonly (PlannedWrite & { readonly after: Zone })[]> {
  const changes = wanted === undefined ? [] : yield* diffingSets(sets, wanted);
  const changed = effectWith(zone, changes, { settings, serial, renew }, by);
  if (changed === undefined) return [];
  options.recordQuota?.assertWithin(changed.zone, zone.recordCount);
  const { effect, needs } = isRemoved
    ? { effect: changed }
    : followed(options, connection, by, zone, { ...changed, ...(keys && { keys }) }, renew);
  return [
    {
      after: effect.zone,
      changes: effect.changes,
      log: effect.log,
      needs,
      isCurrent: (connection) => {
        const now = connection.rowCache.zone(zone.id);
        return now?.serial === zone.serial && now.modified === zone.modified;
      },
      apply: ({ writer }) => writer.apply(effect, sets),
      applying: ({ writer }, rows) => writer.applying(effect, rows),
    },
  ];
}

/** `keep` stores the action, if there is one, and returns the result. */
const planningCreate = <T>(
  zone: NewZone,
  by: WrittenBy,
  { recordQuota, isTrial }: PlanOptions,
  {
    earlierAnswer,
    keep,
  }: {
    earlierAnswer?: (connection: WriteConnection) => T | undefined;
    keep: (connection: WriteConnection, createdZone: Zone) => T;
  },
): Planning<T | NotCreated> =>
  function* (connection) {
    const before = earlierAnswer?.(connection) ?? connection.obstacleTo(zone);
    if (before !== undefined) return { writes: [], finish: () => before };
    const changes = yield* diffingSets([], zone.sets);
    const recordCount = zone.sets.reduce((sum, { records }) => sum + records.length, 0);
    recordQuota?.assertWithin({ ...zone, recordCount }, 0);
    if (recordQuota?.mostZones !== undefined) recordQuota.assertMayCreate(connection.read.zoneCount(zone.account));
    if (isTrial) return { writes: [], finish: (connection) => keep(connection, zoneTried(zone, recordCount)) };
    const write: PlannedWrite = {
      changes,
      log: changes.map((change) => ({ change: firstLogged(zone, change) })),
      isCurrent: (connection) => earlierAnswer?.(connection) === undefined && connection.obstacleTo(zone) === undefined,
      apply: (connection) => {
        connection.createZone(zone);
        connection.writer.createSets(connection.createdZone(zone.id), changes, by);
      },
      *applying(connection, rows) {
        connection.createZone(zone);
        yield* connection.writer.creatingSets(connection.createdZone(zone.id), changes, by, rows);
      },
    };
    return { writes: [write], finish: (connection) => keep(connection, connection.createdZone(zone.id)) };
  };
