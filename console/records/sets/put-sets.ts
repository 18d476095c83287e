import type { Rrset } from "../../../src/contract/rrsets.ts";

/** The sets of a zone as the page knows them: whatever came since the serial `asOf` may be in them or not. */
export type ZoneSets = { readonly sets: readonly Rrset[]; readonly asOf: number };

/** What became of a set: undefined when it is gone. */
export type SetNow = { readonly id: string; readonly set: Rrset | undefined };

/** The sets that changed are put in their place; a zone of 10,000 sets is not read again for them. */
export function putSets(known: ZoneSets, changed: readonly SetNow[], serial: number | undefined): ZoneSets {
  const byId = new Map(known.sets.map((set) => [set.id, set]));
  for (const { id, set } of changed) {
    if (set === undefined) byId.delete(id);
    else byId.set(id, set);
  }
  const sets = [...byId.values()].map((set) => (set.type === "SOA" && serial ? withSerial(set, serial) : set));
  return { ...known, sets };
}

/** For comparing what people have written: the serial is counted by the service. */
export const withoutSerial = (type: string, value: string): string =>
  type === "SOA" ? value.split(" ").with(2, "…").join(" ") : value;

/** Every write raises it, and only the first change of a write says so. */
const withSerial = (soa: Rrset, serial: number): Rrset => ({
  ...soa,
  records: soa.records.map((record) => ({
    ...record,
    value: record.value.split(" ").with(2, String(serial)).join(" "),
  })),
});
