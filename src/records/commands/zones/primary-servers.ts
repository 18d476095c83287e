import { parseAddress } from "../../../core/addresses/address.ts";
import { portOf, primaryFaults } from "../../../core/addresses/primary-address.ts";
import type { Fault } from "../../../core/result.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import type { Zone } from "../../model.ts";
import { newZoneId } from "../../new-id.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { allZones } from "../../queries/all-zones.ts";
import { type Actor, missing, type NotDone, type PermittedView } from "../../queries/permitted-view.ts";
import type { ServerInZone } from "../requests.ts";
import { outcomeWithZone, type ZoneOutcome } from "../write.ts";
import type { ChangeSettings, SettingsEdit } from "./settings.ts";

export type ServerAddress = { readonly address: string; readonly port: number };

type Written = { readonly kind: "done"; readonly serverInZone: ServerInZone } | NotDone;

/** The servers that a zone is transferred from. A zone with at least one is secondary, without any it is primary. */
export function primaryServerOperations(
  { store, allowedPrimaries = [] }: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: Pick<FairSchedule, "next">,
  changeSettings: ChangeSettings,
) {
  const change = async (actor: Actor, zone: string, edit: SettingsEdit): Promise<ZoneOutcome> =>
    await outcomeWithZone(permittedView, actor, { zone }, await changeSettings(actor, { zone }, edit));

  const serverOf = (changed: ZoneOutcome, id: string): Written => {
    if (changed.kind !== "done") return changed;
    const server = changed.zone.settings.primaries.find((each) => each.id === id);
    return server ? { kind: "done", serverInZone: { zone: changed.zone, server } } : missing("primary server");
  };

  const faultsOf = ({ address: text, port }: ServerAddress): readonly Fault[] => {
    const address = parseAddress(text);
    return [
      ...(address ? primaryFaults(address, "address", allowedPrimaries) : [badAddress]),
      ...(portOf(port) === undefined ? [badPort] : []),
    ];
  };

  return {
    /** Of one zone, or of all zones that the actor may see; empty if the zone does not exist. */
    primaryServers: async (actor: Actor, zoneId: string | undefined): Promise<readonly ServerInZone[]> => {
      const isSeen = ({ name }: Zone) => permittedView.allows(actor, { kind: "read-zone", zone: name });
      const one = zoneId === undefined ? undefined : await permittedView.zone(actor, { zone: zoneId });
      const all = zoneId === undefined && (await allZones({ store, schedule }, actor, isSeen, { mode: "secondary" }));
      const zones = all || (one ? [one] : []);
      return zones.flatMap((zone) => zone.settings.primaries.map((server) => ({ zone, server })));
    },

    addPrimaryServer: async (actor: Actor, zone: string, draft: ServerAddress): Promise<Written> => {
      const id = newZoneId();
      const edit = { kind: "add-server", id, ...draft, faults: faultsOf(draft) } as const;
      return serverOf(await change(actor, zone, edit), id);
    },

    replacePrimaryServer: async (actor: Actor, { zone, server: id }: ServerPlace, draft: ServerAddress) => {
      const edit = { kind: "replace-server", id, ...draft, faults: faultsOf(draft) } as const;
      return serverOf(await change(actor, zone, edit), id);
    },

    deletePrimaryServer: (actor: Actor, { zone, server }: ServerPlace) =>
      change(actor, zone, { kind: "delete-server", id: server }),
  };
}

type ServerPlace = { readonly zone: string; readonly server: string };

const badAddress: Fault = {
  code: "bad-address",
  where: "address",
  message: "the address is neither IPv4 nor IPv6",
};
const badPort: Fault = { code: "bad-port", where: "port", message: "the port must be a number from 1 to 65535" };
