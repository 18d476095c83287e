import type { Instant } from "../../core/instant.ts";
import type { SetKey } from "../../core/records/rrset.ts";
import type { Result } from "../../core/result.ts";
import type { Zone } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import {
  type Actor,
  denied,
  missing,
  type NotDone,
  type Permissions,
  permissionsAt,
  refused,
} from "../queries/permitted-view.ts";
import type { ActionRule, DecideAction } from "../store/port.ts";
import { checkWrite, lockFault, soaStays, zoneFaults } from "./edit/check-write.ts";
import { editedSet, setAt, withSet } from "./edit/set.ts";
import { readSetKey } from "./edit/values.ts";
import type { IdempotencyOption, SetDone, SetEdit, SetTarget } from "./requests.ts";
import { authorOf, noChange } from "./write.ts";

export type EditSet = IdempotencyOption & {
  readonly kind: "edit-set";
  readonly actor: Actor;
  readonly target: SetTarget;
  readonly edit: SetEdit;
  readonly now: Instant;
};

/** The only write of one set. */
export function editSetRule(command: EditSet): ActionRule<SetDone | NotDone> {
  const { actor, target, edit, now, idempotencyKey } = command;
  const permittedView = permissionsAt(() => now);
  const stamp = { now, newId: newRecordIds() };
  const decide: DecideAction<SetDone | NotDone> = (view) => {
    const { zone, sets } = view;
    const place = readSetKey(target.name, target.type, zone.name);
    const obstacle = obstacleTo(permittedView, actor, zone, place, edit);
    if (obstacle) return noChange(obstacle);
    if (!place.ok) return noChange(missing("record"));
    const set = setAt(sets, place.value);
    const made = set === undefined;
    if (set?.locked && !passesLock.has(edit.kind)) return noChange(refused([lockFault(set)]));
    if (made && !mayCreate.has(edit.kind)) return noChange(missing("record"));
    const edited = editedSet(edit, { zone, place: place.value, set, stamp });
    if (!edited.ok) return noChange(refused(edited.faults));
    if (edited.value === undefined && place.value.type === "SOA") return noChange(refused([soaStays]));
    const wanted = withSet(sets, place.value, edited.value);
    const faults = passesLock.has(edit.kind) ? [] : checkWrite(view, wanted);
    if (faults.length > 0) return noChange(refused(faults));
    const name = edit.kind === "put" && made ? actionNames.create : actionNames[edit.kind];
    return { wanted, ...(name && { actionName: name }), result: { kind: "done", zone, set: edited.value, made } };
  };
  const owners = ({ name }: Zone) => {
    const place = readSetKey(target.name, target.type, name);
    return place.ok ? [place.value.owner] : [];
  };
  const request = { ...authorOf(actor, now), at: target.zone, owners, ...(idempotencyKey && { idempotencyKey }) };
  return { kind: "action", request, decide };
}

type EditKind = SetEdit["kind"];

/** The names of the actions; changing labels is not an action. */
const actionNames: Readonly<Record<EditKind, string | undefined>> = {
  create: "create_rrset",
  put: "set_rrset_records",
  replace: "set_rrset_records",
  add: "add_rrset_records",
  remove: "remove_rrset_records",
  comment: "update_rrset_records",
  ttl: "change_rrset_ttl",
  lock: "change_rrset_protection",
  label: undefined,
  delete: "delete_rrset",
};

/** The other edits require an existing set. */
const mayCreate: ReadonlySet<EditKind> = new Set(["create", "put", "add"]);
/** Labels and protection can be changed on a protected set. */
const passesLock: ReadonlySet<EditKind> = new Set(["lock", "label"]);

function obstacleTo(
  permittedView: Permissions,
  actor: Actor,
  zone: Zone,
  place: Result<SetKey>,
  { kind }: SetEdit,
): NotDone | undefined {
  const refusal = place.ok
    ? permittedView.refusal(actor, { kind: "write-set", zone: zone.name, ...place.value })
    : undefined;
  const faults = zoneFaults(zone);
  if (place.ok && refusal === undefined) return faults.length > 0 ? refused(faults) : undefined;
  // An actor who may write a set may see it. For the others, the answer depends on what they may see.
  if (!permittedView.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  if (faults.length > 0) return refused(faults);
  if (!place.ok) return mayCreate.has(kind) ? refused(place.faults) : missing("record");
  const seen = permittedView.allows(actor, { kind: "read-set", zone: zone.name, ...place.value });
  return !seen && !mayCreate.has(kind) ? missing("record") : refusal && denied(refusal);
}
