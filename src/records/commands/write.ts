import type { Instant } from "../../core/instant.ts";
import type { Fault } from "../../core/result.ts";
import type { Zone, ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import {
  type Actor,
  type AnyZoneKey,
  denied,
  missing,
  type NotDone,
  type Permissions,
  type PermittedView,
  refused,
} from "../queries/permitted-view.ts";
import type { ActionResult, ActionRule, Command, IdempotencyKey, RecordStore, RunningAction } from "../store/port.ts";
import type { Done, IdempotencyOption, Written } from "./requests.ts";

/** The actor and time of a write, as the store needs them. */
export const authorOf = ({ account, label }: Pick<Actor, "account" | "label">, now: Instant) => ({
  account,
  actor: label,
  now,
});

/** A decision to change nothing. */
export const noChange = <T>(result: T) => ({ wanted: undefined, result });

export function toWritten<Result extends Done>(
  actionResult: ActionResult<Result | NotDone> | "no-zone" | "key-taken",
): Written<Result> {
  if (typeof actionResult === "string") return actionResult === "no-zone" ? missing("zone") : refused([keyTaken]);
  const { result, action, serial } = actionResult;
  return result.kind === "done" ? { ...(result as Result), action, serial } : (result as NotDone);
}

/** For a zone that the actor cannot see: a request that was carried out earlier with this key still gets its answer. */
export async function earlierWritten(
  store: RecordStore,
  actor: Actor,
  at: ZoneKey,
  { idempotencyKey }: IdempotencyOption,
  now: Instant,
): Promise<Written> {
  if (idempotencyKey === undefined) return missing("zone");
  return toWritten<Done>(
    await store.run({ kind: "earlier-answer", actor, at, now, idempotencyKey }, earlierAnswerRule),
  );
}

/** Asks for the answer to an earlier request. */
export type EarlierAnswer = {
  readonly kind: "earlier-answer";
  readonly actor: Actor;
  readonly at: ZoneKey;
  readonly now: Instant;
  readonly idempotencyKey: IdempotencyKey;
};

const earlierAnswerRule = ({ actor, at, now, idempotencyKey }: EarlierAnswer): ActionRule<Done | NotDone> => ({
  kind: "action",
  request: { ...authorOf(actor, now), at, owners: () => [], idempotencyKey },
  decide: () => noChange(missing("zone")),
});

export const keyTaken: Fault = {
  code: "key-taken",
  where: "Idempotency-Key",
  message: "this key was already used for a different request",
  todo: "use a new key for each new request",
};

/** Why this actor may not change the whole zone. */
export function writeObstacle(permittedView: Permissions, actor: Actor, { name: zone }: Zone): NotDone | undefined {
  if (!permittedView.allows(actor, { kind: "read-zone", zone })) return missing("zone");
  const refusal = permittedView.refusal(actor, { kind: "write-zone", zone });
  return refusal && denied(refusal);
}

export type ZoneOutcome = (Exclude<Written, NotDone> & { readonly zone: Zone }) | NotDone;

/** The outcome of the write, with the zone as the actor sees it afterwards. */
export async function outcomeWithZone(
  permittedView: PermittedView,
  actor: Actor,
  key: AnyZoneKey,
  written: Written,
): Promise<ZoneOutcome> {
  if (written.kind !== "done") return written;
  const zone = await permittedView.zone(actor, key);
  return zone ? { ...written, zone } : missing("zone");
}

/**
 * Milliseconds. A write that takes longer is answered with an action that is still running, unless the caller wants to
 * know that the provider has it.
 */
const soon = 5_000;
/** Milliseconds after which an action counts as interrupted, and how often that time is extended. */
const [lease, extendEvery] = [120_000, 30_000];

type Watching = Pick<RecordServiceOptions, "store" | "now" | "answerAfter">;

/** A command that may take long. */
type LongCommand = Command & {
  readonly actor: Pick<Actor, "account" | "label" | "scope">;
  readonly at: ZoneKey;
  /** The name of its action; without one, the answer waits for the end of the write. */
  readonly action?: string | undefined;
};

export async function runLongCommand<C extends LongCommand>(
  { store, now, answerAfter = soon }: Watching,
  command: C,
  rule: (command: C) => ActionRule<Done | NotDone>,
  ended?: () => void,
): Promise<Written> {
  const running: RunningAction = {};
  const { actor, at, action: name } = command;
  const writing = store
    .run(command, rule, running)
    .then((actionResult) => toWritten<Done>(actionResult))
    .finally(ended);
  const waitsForEnd = name === undefined || actor.scope.confirm !== undefined;
  if (waitsForEnd || answerAfter === Number.POSITIVE_INFINITY) return await writing;
  if (await endsWithin(writing, answerAfter)) return await writing;
  const zone = await store.zoneBy(actor.account, at);
  if (zone === undefined) return await writing;
  const started = now();
  const action = await store.startAction(zone, name, { actor: actor.label, now: started, until: started + lease });
  running.id = action.id;
  watch({ store, now }, writing, action.id);
  return { kind: "done", action, serial: zone.serial };
}

async function endsWithin(work: Promise<unknown>, time: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), time);
  const ended = () => resolve(true);
  work.then(ended, ended);
  return await promise.finally(() => clearTimeout(timer));
}

/**
 * Keeps the action running until the write has ended. If the store cannot be reached then, it counts as interrupted.
 */
function watch({ store, now }: Watching, writing: Promise<Written>, id: number): void {
  const extend = () => void store.extendAction(id, now() + lease).catch(() => undefined);
  const timer = setInterval(extend, extendEvery).unref();
  writing
    .then(
      (written) => {
        const isEnded = written.kind === "done" && written.action?.id === id;
        return isEnded ? undefined : store.endAction(id, now(), written.kind === "done" ? undefined : textOf(written));
      },
      (error: Error) => store.endAction(id, now(), error.message),
    )
    .catch(() => undefined)
    .finally(() => clearInterval(timer));
}

function textOf(notDone: NotDone): string {
  if (notDone.kind !== "refused") return "the zone was deleted, or access to it ended, before this was finished";
  return notDone.faults.map(({ message, todo }) => (todo ? `${message}; ${todo}` : message)).join("; ");
}
