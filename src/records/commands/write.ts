import type { Instant } from "../../core/instant.ts";
import type { Fault } from "../../core/result.ts";
import type { Zone, ZoneKey } from "../model.ts";
import {
  type Actor,
  type AnyZoneKey,
  denied,
  missing,
  type NotDone,
  type Permissions,
  type PlainActor,
  refused,
  type Sight,
} from "../queries/sight.ts";
import type { Acted, Command, RecordStore } from "../store/port.ts";
import type { Asked, Done, Written } from "./requests.ts";

/** The actor and time of a write, as the store needs them. */
export const writtenBy = ({ account, label }: Pick<Actor, "account" | "label">, now: Instant) => ({
  account,
  actor: label,
  now,
});

/** A command with more parts than this is not sent to the thread that writes: it would be a large write, and copying it takes long. */
const mostParts = 1_000;

/** The command of a request, if its parts are few. */
export const ifSmall = (command: Command, parts: readonly unknown[]): { readonly command?: Command } =>
  parts.length > mostParts ? {} : { command };

/** A decision to change nothing. */
export const noChange = <T>(result: T) => ({ wanted: undefined, result });

export function writtenIn<Result extends Done>(
  acted: Acted<Result | NotDone> | "no-zone" | "key-taken",
): Written<Result> {
  if (typeof acted === "string") return acted === "no-zone" ? missing("zone") : refused([keyTaken]);
  const { result, action, serial } = acted;
  return result.kind === "done" ? { ...(result as Result), action, serial } : (result as NotDone);
}

/** For a zone that the actor cannot see: a request that was carried out earlier with this key still gets its answer. */
export async function writtenBefore(
  store: RecordStore,
  actor: Actor,
  at: ZoneKey,
  { once }: Asked,
  now: Instant,
): Promise<Written> {
  if (once === undefined) return missing("zone");
  const request = { ...writtenBy(actor, now), at, owners: () => [], once };
  return writtenIn<Done>(await store.act<Done | NotDone>(request, () => noChange(missing("zone"))));
}

export const keyTaken: Fault = {
  code: "key-taken",
  where: "Idempotency-Key",
  message: "this key was already used for a different request",
  todo: "use a new key for each new request",
};

/** Why this actor may not change the whole zone. */
export function writeObstacle(sight: Permissions, actor: PlainActor, { name: zone }: Zone): NotDone | undefined {
  if (!sight.allows(actor, { kind: "read-zone", zone })) return missing("zone");
  const refusal = sight.refusal(actor, { kind: "write-zone", zone });
  return refusal && denied(refusal);
}

export type ChangedZone = (Exclude<Written, NotDone> & { readonly zone: Zone }) | NotDone;

/** The outcome of the write, with the zone as the actor sees it afterwards. */
export async function withZone(sight: Sight, actor: Actor, key: AnyZoneKey, written: Written): Promise<ChangedZone> {
  if (written.kind !== "done") return written;
  const zone = await sight.zone(actor, key);
  return zone ? { ...written, zone } : missing("zone");
}
