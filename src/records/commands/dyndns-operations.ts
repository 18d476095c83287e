import { enclosing, ownerOf } from "../../core/names/name.ts";
import type { Zone } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, type PermittedView } from "../queries/permitted-view.ts";
import { type NumberedHost, plainAddresses, pointHostsRule } from "./point-hosts.ts";
import type { Host, HostOutcome, WantedAddresses } from "./requests.ts";

type HostInZone = NumberedHost & { readonly zone: Zone };

export function dyndnsOperations({ store, now }: RecordServiceOptions, permittedView: PermittedView) {
  /** The closest enclosing zone of a name that this actor may see. */
  const zoneOf = async (actor: Actor, name: string): Promise<Zone | undefined> => {
    for (const above of enclosing(name)) {
      const zone = await store.zoneBy(actor.account, { name: above });
      if (zone && permittedView.allows(actor, { kind: "read-zone", zone: zone.name })) return zone;
    }
    return undefined;
  };

  return {
    /** Writes all hosts of a zone in one write; no write if nothing changes. Outcomes are in the order of the hosts. */
    pointHosts: async (
      actor: Actor,
      hosts: readonly Host[],
      wanted: WantedAddresses,
    ): Promise<readonly HostOutcome[]> => {
      const at = now();
      const hostsInZones: HostInZone[] = [];
      const outcomes: HostOutcome[] = [];
      for (const [place, host] of hosts.entries()) {
        outcomes.push({ kind: host === undefined ? "not-a-full-name" : "unknown" });
        const zone = host === undefined ? undefined : await zoneOf(actor, host);
        const owner = zone && ownerOf(host ?? "", zone.name);
        if (zone && owner !== undefined)
          hostsInZones.push({ place, owner, zone, ids: { A: newRecordId(), AAAA: newRecordId() } });
      }
      const byZone = [...Map.groupBy(hostsInZones, ({ zone }) => zone.id)];
      await Promise.all(
        byZone.map(async ([zone, mine]) => {
          const mineHere = mine.map(({ place, owner, ids }) => ({ place, owner, ids }));
          const by = { actor, zone, hosts: mineHere, now: at, wanted: plainAddresses(wanted) };
          const written = await store.run({ kind: "point-hosts", ...by }, pointHostsRule);
          for (const { place, outcome } of written ?? []) outcomes[place] = outcome;
        }),
      );
      return outcomes;
    },
  };
}
