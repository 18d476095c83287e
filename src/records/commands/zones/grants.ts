import { isRelated, parseZoneName } from "../../../core/names/name.ts";
import { badInput } from "../../../core/result.ts";
import type { Grant, Zone, ZoneKey } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { type Actor, missing, type NotDone, type PermittedView, refused } from "../../queries/permitted-view.ts";
import { writeObstacle } from "../write.ts";

export type GrantDraft = { readonly account: string; readonly name: string };

/** A longer list would take too long to read. */
const mostGrants = 1_000;

/** Lets the owner of a zone allow other accounts to have zones inside or above it. */
export function grantOperations({ store, now }: RecordServiceOptions, permittedView: PermittedView) {
  /** Requires write access to the whole zone, which would also allow delegating its names with NS records. */
  const zoneFor = async (actor: Actor, key: ZoneKey): Promise<Zone | NotDone> => {
    const zone = await permittedView.openZone(actor, key);
    return zone ? (writeObstacle(permittedView, actor, zone) ?? zone) : missing("zone");
  };

  return {
    grantsOf: async (actor: Actor, key: ZoneKey): Promise<{ kind: "done"; grants: readonly Grant[] } | NotDone> => {
      const zone = await zoneFor(actor, key);
      return "kind" in zone ? zone : { kind: "done", grants: await store.grants({ zone: zone.number }) };
    },

    /** Adding the same grant twice has no effect. */
    addGrant: async (
      actor: Actor,
      key: ZoneKey,
      draft: GrantDraft,
    ): Promise<{ kind: "done"; grant: Grant; action: undefined } | NotDone> => {
      const zone = await zoneFor(actor, key);
      if ("kind" in zone) return zone;
      const name = parseZoneName(draft.name);
      if (!name.ok) return refused(name.faults);
      if (!isRelated(name.value, zone.name))
        return refused([badInput("name", `must be ${zone.name}, a name below it or a name above it`)]);
      const account = await store.account(draft.account);
      if (account === undefined) return refused([badInput("account", "is not an account of this service")]);
      if (account.id === zone.account) return refused([badInput("account", "is the owner of the zone")]);
      if ((await store.grants({ zone: zone.number })).length >= mostGrants)
        return refused([
          badInput("name", `cannot be granted: the zone already has ${mostGrants} grants; revoke some first`),
        ]);
      const consent = { zone: zone.number, account: account.id, name: name.value };
      const grant = await store.addGrant({ ...consent, actor: actor.label, created: now() });
      return grant === "no-zone" ? missing("zone") : { kind: "done", grant, action: undefined };
    },

    revokeGrant: async (actor: Actor, key: ZoneKey, id: number): Promise<{ kind: "done" } | NotDone> => {
      const zone = await zoneFor(actor, key);
      if ("kind" in zone) return zone;
      return (await store.revokeGrant(id, zone.number)) ? { kind: "done" } : missing("grant");
    },
  };
}
