import type { Rrset } from "../../../src/contract/rrsets.ts";

/** The sets of a zone as the page knows them; changes after the serial `asOf` may or may not be included. */
export type ZoneSets = { readonly sets: readonly Rrset[]; readonly asOf: number };

/** The current state of a set; undefined if it was deleted. */
export type SetNow = { readonly id: string; readonly set: Rrset | undefined };

/** Replaces only the sets that changed, so that a zone of 10,000 sets is not read again. */
export function putSets(known: ZoneSets, changed: readonly SetNow[], serial: number | undefined): ZoneSets {
  const byId = new Map(known.sets.map((set) => [set.id, set]));
  for (const { id, set } of changed) {
    if (set === undefined) byId.delete(id);
    else byId.set(id, set);
  }
  const sets = [...byId.values()].map((set) => (set.type === "SOA" && serial ? withSerial(set, serial) : set));
  return { ...known, sets };
}

/** For comparing what people wrote; the service sets the serial. */
export const withoutSerial = (type: string, value: string): string =>
  type === "SOA" ? value.split(" ").with(2, "…").join(" ") : value;

/** Every write raises the serial, but only the first change of a write includes the SOA. */
const withSerial = (soa: Rrset, serial: number): Rrset => ({
  ...soa,
  records: soa.records.map((record) => ({
    ...record,
    value: record.value.split(" ").with(2, String(serial)).join(" "),
  })),
});
