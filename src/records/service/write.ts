import type { Instant } from "../../core/instant.ts";
import type { Fault } from "../../core/result.ts";
import type { Action, ZoneKey } from "../model.ts";
import type { Acted, Once, RecordStore } from "../store/port.ts";
import { type Actor, missing, type NotDone, refused } from "./sight.ts";

/** What is asked for beside the write itself, by an API whose writes are kept as actions. */
export type Asked = { readonly once?: Once };

/** Who writes and when, as the store wants to know it. */
export const writtenBy = ({ account, label }: Actor, now: Instant) => ({ account, actor: label, now });

/** A decision to leave the zone as it is. */
export const noChange = <T>(result: T) => ({ wanted: undefined, result });

export type Done = { readonly kind: "done" };

/** With the action that was kept, and the serial that the write has given the zone: by now it may have another. */
export type Written<Result extends Done = Done> =
  | (Result & { readonly action: Action | undefined; readonly serial: number })
  | NotDone;

export function writtenIn<Result extends Done>(
  acted: Acted<Result | NotDone> | "no-zone" | "key-taken",
): Written<Result> {
  if (typeof acted === "string") return acted === "no-zone" ? missing("zone") : refused([keyTaken]);
  const { result, action, serial } = acted;
  return result.kind === "done" ? { ...(result as Result), action, serial } : (result as NotDone);
}

/** For a zone that is missing for this actor: what was done under the key before is still answered. */
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
  message: "this key was sent with another request before",
  todo: "send a new key with each new request",
};
