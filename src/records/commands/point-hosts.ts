import type { Network } from "../../core/addresses/network.ts";
import type { Instant } from "../../core/instant.ts";
import { isMadeFor } from "../../core/may.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { type Actor, permissionsAt } from "../queries/permitted-view.ts";
import type { WriteRule, WriteView } from "../store/port.ts";
import { checkWrite } from "./edit/check-write.ts";
import { type NewIds, pointHost } from "./edit/dyndns.ts";
import type { HostOutcome, WantedAddresses } from "./requests.ts";
import { authorOf } from "./write.ts";

/** `place`: its index in the request. */
export type NumberedHost = { readonly place: number; readonly owner: string; readonly ids: NewIds };

/** The bytes of a prefix as numbers, because a command is plain data. */
type PlainAddresses = {
  readonly ipv4?: WantedAddresses["ipv4"];
  readonly ipv6?: WantedAddresses["ipv4"] | { readonly prefix: Omit<Network, "bytes"> & { readonly bytes: number[] } };
};

export const plainAddresses = ({ ipv4, ipv6 }: WantedAddresses): PlainAddresses => ({
  ...(ipv4 && { ipv4 }),
  ...(ipv6 && {
    ipv6: "prefix" in ipv6 ? { prefix: { ...ipv6.prefix, bytes: [...ipv6.prefix.bytes] } } : ipv6,
  }),
});

const addressesFrom = ({ ipv4, ipv6 }: PlainAddresses): WantedAddresses => ({
  ...(ipv4 && { ipv4 }),
  ...(ipv6 && {
    ipv6: "prefix" in ipv6 ? { prefix: { ...ipv6.prefix, bytes: Uint8Array.from(ipv6.prefix.bytes) } } : ipv6,
  }),
});

export type PointHosts = {
  readonly kind: "point-hosts";
  readonly actor: Actor;
  readonly zone: string;
  readonly hosts: readonly NumberedHost[];
  readonly wanted: PlainAddresses;
  readonly now: Instant;
};

type Pointed = { readonly place: number; readonly outcome: HostOutcome };

export function pointHostsRule(command: PointHosts): WriteRule<readonly Pointed[]> {
  const { actor, zone, hosts, now } = command;
  const wanted = addressesFrom(command.wanted);
  return {
    kind: "write",
    request: { ...authorOf(actor, now), at: { zone }, owners: () => hosts.map(({ owner }) => owner) },
    decide: (view) => {
      let { sets } = view;
      const result = hosts.map((host): Pointed => {
        const { sets: own, outcome } = point(command, wanted, { ...view, sets }, host);
        sets = [...sets.filter((set) => set.owner !== host.owner), ...own];
        return { place: host.place, outcome };
      });
      return { wanted: sets, result };
    },
  };
}

function mayWrite({ actor, now }: PointHosts, { zone }: WriteView, sets: readonly RRset[]): HostOutcome | undefined {
  const permittedView = permissionsAt(() => now);
  const refusals = sets.map(({ owner, type }) =>
    permittedView.refusal(actor, { kind: "write-set", zone: zone.name, owner, type }),
  );
  if (refusals.every((refusal) => refusal === undefined)) return undefined;
  return { kind: refusals.includes("read-only") ? "read-only" : "unknown" };
}

function point(
  command: PointHosts,
  wanted: WantedAddresses,
  view: WriteView,
  { owner, ids }: NumberedHost,
): { readonly sets: readonly RRset[]; readonly outcome: HostOutcome } {
  const { actor, now } = command;
  const permittedView = permissionsAt(() => now);
  const own = view.sets.filter((set) => set.owner === owner);
  const visible = own.filter(({ type }) =>
    permittedView.allows(actor, { kind: "read-set", zone: view.zone.name, owner, type }),
  );
  const mayCreate = isMadeFor(actor.scope, view.zone.name, owner);
  const pointed = pointHost(visible, owner, wanted, { ids, now, mayCreate });
  if (pointed === undefined) return { sets: own, outcome: { kind: "unknown" } };
  const touched = pointed.wanted.filter((set) => !own.includes(set));
  const hidden = own.filter((set) => !visible.includes(set) && !touched.some(({ type }) => type === set.type));
  const sets = [...hidden, ...pointed.wanted];
  const refusal = mayWrite(command, view, pointed.wanted.filter(isAddress(wanted)));
  if (refusal) return { sets: own, outcome: refusal };
  if (touched.length === 0) return { sets: own, outcome: { kind: "unchanged", addresses: pointed.addresses } };
  const [fault] = checkWrite({ ...view, sets: own }, sets);
  if (fault) return { sets: own, outcome: { kind: "refused", reason: fault.message } };
  return { sets, outcome: { kind: "changed", addresses: pointed.addresses } };
}

const isAddress =
  (wanted: WantedAddresses) =>
  ({ type }: RRset): boolean =>
    (type === "A" && wanted.ipv4 !== undefined) || (type === "AAAA" && wanted.ipv6 !== undefined);
