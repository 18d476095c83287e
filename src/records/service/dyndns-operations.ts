import { enclosing, ownerOf } from "../../core/names/name.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Zone } from "../model.ts";
import type { WriteView } from "../store/port.ts";
import { checkWrite } from "./edit/check-write.ts";
import { pointHost } from "./edit/dyndns.ts";
import type { Host, WantedAddresses } from "./edit/dyndns-request.ts";
import { newRecordId } from "./edit/new-id.ts";
import type { RecordServiceOptions } from "./options.ts";
import type { Actor, Sight } from "./sight.ts";
import { writtenBy } from "./write.ts";

/** The outcome for one host. */
export type HostOutcome =
  | { readonly kind: "changed" | "unchanged"; readonly addresses: readonly string[] }
  | { readonly kind: "not-a-full-name" | "unknown" | "read-only" | "refused" };

type Placed = { readonly place: number; readonly owner: string; readonly zone: Zone; readonly id: string };

export function dyndnsOperations({ store, now }: RecordServiceOptions, sight: Sight) {
  /** The closest enclosing zone of a name that this actor may see. */
  const zoneOf = async (actor: Actor, name: string): Promise<Zone | undefined> => {
    for (const above of enclosing(name)) {
      const zone = await store.zoneBy(actor.account, { name: above });
      if (zone && sight.allows(actor, { kind: "read-zone", zone: zone.name })) return zone;
    }
    return undefined;
  };

  const mayWrite = (actor: Actor, { zone }: WriteView, sets: readonly RRset[]): HostOutcome | undefined => {
    const refusals = sets.map(({ owner, type }) =>
      sight.refusal(actor, { kind: "write-set", zone: zone.name, owner, type }),
    );
    if (refusals.every((refusal) => refusal === undefined)) return undefined;
    return { kind: refusals.includes("read-only") ? "read-only" : "unknown" };
  };

  const point = (actor: Actor, view: WriteView, { owner, id }: Placed, wanted: WantedAddresses, at: number) => {
    const own = view.sets.filter((set) => set.owner === owner);
    const visible = own.filter(({ type }) =>
      sight.allows(actor, { kind: "read-set", zone: view.zone.name, owner, type }),
    );
    const pointed = pointHost(visible, owner, wanted, { id, now: at });
    if (pointed === undefined) return { sets: own, outcome: { kind: "unknown" } as const };
    const touched = pointed.wanted.filter((set) => !own.includes(set));
    const hidden = own.filter((set) => !visible.includes(set) && !touched.some(({ type }) => type === set.type));
    const sets = [...hidden, ...pointed.wanted];
    const refusal = mayWrite(actor, view, pointed.wanted.filter(isAddress(wanted)));
    if (refusal) return { sets: own, outcome: refusal };
    if (touched.length === 0)
      return { sets: own, outcome: { kind: "unchanged", addresses: pointed.addresses } as const };
    if (checkWrite({ ...view, sets: own }, sets).length > 0)
      return { sets: own, outcome: { kind: "refused" } as const };
    return { sets, outcome: { kind: "changed", addresses: pointed.addresses } as const };
  };

  return {
    /** Writes all hosts of a zone in one write; no write if nothing changes. Outcomes are in the order of the hosts. */
    pointHosts: async (
      actor: Actor,
      hosts: readonly Host[],
      wanted: WantedAddresses,
    ): Promise<readonly HostOutcome[]> => {
      const at = now();
      const placed: Placed[] = [];
      const outcomes: HostOutcome[] = [];
      for (const [place, host] of hosts.entries()) {
        outcomes.push({ kind: host === undefined ? "not-a-full-name" : "unknown" });
        const zone = host === undefined ? undefined : await zoneOf(actor, host);
        const owner = zone && ownerOf(host ?? "", zone.name);
        if (zone && owner !== undefined) placed.push({ place, owner, zone, id: newRecordId() });
      }
      const byZone = [...Map.groupBy(placed, ({ zone }) => zone.id)];
      await Promise.all(
        byZone.map(async ([zone, mine]) => {
          const owners = () => mine.map(({ owner }) => owner);
          const request = { ...writtenBy(actor, at), at: { zone }, owners };
          const written = await store.write(request, (view) => {
            let { sets } = view;
            const result = mine.map((each) => {
              const { sets: own, outcome } = point(actor, { ...view, sets }, each, wanted, at);
              sets = [...sets.filter((set) => set.owner !== each.owner), ...own];
              return { place: each.place, outcome };
            });
            return { wanted: sets, result };
          });
          for (const { place, outcome } of written ?? []) outcomes[place] = outcome;
        }),
      );
      return outcomes;
    },
  };
}

const isAddress =
  (wanted: WantedAddresses) =>
  ({ type }: RRset): boolean =>
    (type === "A" && wanted.ipv4 !== undefined) || (type === "AAAA" && wanted.ipv6 !== undefined);
