import { parseAddress } from "../../../core/addresses/address.ts";
import { portOf, primaryFaults } from "../../../core/addresses/primary-address.ts";
import type { Fault } from "../../../core/result.ts";
import type { PrimaryServer, Zone, ZoneSettings } from "../../model.ts";
import { newZoneId } from "../../new-id.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { allZones } from "../../queries/all-zones.ts";
import { type Actor, missing, type NotDone, refused, type Sight } from "../../queries/sight.ts";
import { signedStaysPrimary } from "../edit/check-write.ts";
import type { PlacedServer } from "../requests.ts";
import { type ChangedZone, withZone } from "../write.ts";
import type { ChangeSettings, SettingsRule } from "./settings.ts";

export type ServerDraft = { readonly address: string; readonly port: number };

type Written = { readonly kind: "done"; readonly placed: PlacedServer } | NotDone;

/** The servers that a zone is transferred from. A zone with at least one is secondary, without any it is primary. */
export function primaryServerOperations(
  { store, now, allowedPrimaries = [] }: RecordServiceOptions,
  sight: Sight,
  changeSettings: ChangeSettings,
) {
  const change = async (actor: Actor, zone: string, rule: SettingsRule): Promise<ChangedZone> =>
    await withZone(sight, actor, { zone }, await changeSettings(actor, { zone }, rule));

  const serverOf = (changed: ChangedZone, id: string): Written => {
    if (changed.kind !== "done") return changed;
    const server = changed.zone.settings.primaries.find((each) => each.id === id);
    return server ? { kind: "done", placed: { zone: changed.zone, server } } : missing("primary server");
  };

  const serverFaults = ({ address: text, port }: ServerDraft, others: readonly PrimaryServer[]): readonly Fault[] => {
    const faults: Fault[] = [];
    const address = parseAddress(text);
    if (address) faults.push(...primaryFaults(address, "address", allowedPrimaries));
    else faults.push({ code: "bad-address", where: "address", message: "the address is neither IPv4 nor IPv6" });
    if (portOf(port) === undefined) {
      faults.push({ code: "bad-port", where: "port", message: "the port must be a number from 1 to 65535" });
    }
    if (others.some((other) => other.address === address?.text && other.port === port)) {
      faults.push({ code: "server-taken", where: "address", message: "the zone already has this primary server" });
    }
    return faults;
  };

  return {
    /** Of one zone, or of all zones that the actor may see; empty if the zone does not exist. */
    primaryServers: async (actor: Actor, zoneId: string | undefined): Promise<readonly PlacedServer[]> => {
      const one = zoneId === undefined ? undefined : await sight.zone(actor, { zone: zoneId });
      const zones = one ? [one] : [];
      if (zoneId === undefined) {
        for await (const zone of allZones(store, actor.account, { mode: "secondary" })) zones.push(zone);
      }
      return zones
        .filter((zone) => sight.allows(actor, { kind: "read-zone", zone: zone.name }))
        .flatMap((zone) => zone.settings.primaries.map((server) => ({ zone, server })));
    },

    addPrimaryServer: async (actor: Actor, zoneId: string, draft: ServerDraft): Promise<Written> => {
      const [id, at] = [newZoneId(), now()];
      const changed = await change(actor, zoneId, (zone) => {
        const { mode, primaries } = zone.settings;
        const address = parseAddress(draft.address)?.text ?? draft.address;
        const faults = [...(mode === "primary" ? ownRecordFaults(zone) : []), ...serverFaults(draft, primaries)];
        const server = { id, address, port: draft.port, created: at, modified: at };
        return faults.length > 0 ? refused(faults) : withServers(zone, [...primaries, server]);
      });
      return serverOf(changed, id);
    },

    replacePrimaryServer: async (
      actor: Actor,
      place: { readonly zone: string; readonly server: string },
      draft: ServerDraft,
    ): Promise<Written> => {
      const at = now();
      const changed = await change(actor, place.zone, (zone) => {
        const { primaries } = zone.settings;
        const old = primaries.find((each) => each.id === place.server);
        if (old === undefined) return missing("primary server");
        const address = parseAddress(draft.address)?.text ?? draft.address;
        if (old.address === address && old.port === draft.port) return zone.settings;
        const faults = serverFaults(
          draft,
          primaries.filter((each) => each !== old),
        );
        if (faults.length > 0) return refused(faults);
        const server = { ...old, address, port: draft.port, modified: at };
        return withServers(
          zone,
          primaries.map((each) => (each === old ? server : each)),
        );
      });
      return serverOf(changed, place.server);
    },

    deletePrimaryServer: async (actor: Actor, place: { readonly zone: string; readonly server: string }) =>
      await change(actor, place.zone, (zone) => {
        const left = zone.settings.primaries.filter((each) => each.id !== place.server);
        return left.length === zone.settings.primaries.length ? missing("primary server") : withServers(zone, left);
      }),
  };
}

const withServers = ({ settings }: Zone, primaries: readonly PrimaryServer[]): ZoneSettings => ({
  ...settings,
  primaries,
  mode: primaries.length > 0 ? "secondary" : "primary",
});

/** The SOA record does not count, because every zone has one. */
function ownRecordFaults(zone: Zone): readonly Fault[] {
  if (zone.settings.dnssec !== undefined) return [signedStaysPrimary(zone.name)];
  if (zone.recordCount <= 1) return [];
  return [
    {
      code: "zone-has-records",
      where: "zone_id",
      message: "the zone already has records, so they cannot come from a primary server",
      todo: "delete all records except the SOA first, or create a new zone",
    },
  ];
}
