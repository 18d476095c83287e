import type { Rrset } from "../../../src/contract/rrsets.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { zoneAddress } from "../zones/zone-address.ts";

/** The history of one set: a name that ends with the zone's is taken as a whole. */
export const historyOf = (zone: string, { name, type }: Pick<Rrset, "name" | "type">): string =>
  `${zoneAddress(zone, "history")}?${new URLSearchParams({ name: absoluteName(name, zone), type })}`;
