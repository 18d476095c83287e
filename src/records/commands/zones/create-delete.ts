import type { Instant } from "../../../core/instant.ts";
import type { Fault } from "../../../core/result.ts";
import type { NewZone, ZoneKey } from "../../model.ts";
import {
  denied,
  missing,
  type NotDone,
  type Permissions,
  type PlainActor,
  permissionsAt,
  refused,
} from "../../queries/sight.ts";
import type { ActRule, CreateRule, NewAction, WriteView } from "../../store/port.ts";
import type { Asked, Done } from "../requests.ts";
import { noChange, writtenBy } from "../write.ts";

export type CreateZone = {
  readonly kind: "create-zone";
  readonly actor: PlainActor;
  readonly zone: NewZone;
  /** If it is stored as an action. */
  readonly act?: NewAction;
};

export const createZoneRule = ({ actor, zone, act }: CreateZone): CreateRule => ({
  kind: "create",
  zone,
  actor: actor.label,
  ...(act && { act }),
});

export type DeleteZone = Asked & {
  readonly kind: "delete-zone";
  readonly actor: PlainActor;
  readonly at: ZoneKey;
  readonly isAction: boolean;
  readonly now: Instant;
};

export function deleteZoneRule(command: DeleteZone): ActRule<Done | NotDone> {
  const { actor, at, isAction, now, once } = command;
  const sight = permissionsAt(() => now);
  return {
    kind: "act",
    request: { ...writtenBy(actor, now), at, owners: "to-remove", command, ...(once && { once }) },
    decide: (view) => {
      const obstacle = removalObstacle(sight, actor, view);
      if (obstacle) return noChange(obstacle);
      return { ...noChange({ kind: "done" }), remove: true, ...(isAction && { command: "delete_zone" }) };
    },
  };
}

/** Why this actor cannot delete the zone. A protected set also prevents the deletion of its zone. */
function removalObstacle(sight: Permissions, actor: PlainActor, { zone, sets }: WriteView): NotDone | undefined {
  if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  const refusal = sight.refusal(actor, { kind: "delete-zone", zone: zone.name });
  if (refusal) return denied(refusal);
  if (zone.settings.locked) return refused([zoneLocked(zone.name)]);
  return sets.some((set) => set.locked) ? refused([setsLocked]) : undefined;
}

const zoneLocked = (name: string): Fault => ({
  code: "zone-locked",
  where: "zone",
  message: `the zone ${name} is protected against deletion`,
  todo: "remove its protection first",
});

export const setsLocked: Fault = {
  code: "set-locked",
  where: "zone",
  message: "some record sets of the zone are protected against changes",
  todo: "remove their protection first",
};
