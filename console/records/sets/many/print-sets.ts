import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { parseRdata } from "../../../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../../../src/core/rdata/table.ts";
import { finish } from "../../../../src/core/steps.ts";
import { printingZoneFile } from "../../../../src/core/zone-file/print.ts";

/** Some sets of a zone as a zone file. */
export function printSets({ name, ttl }: Pick<RrsetsZone, "name" | "ttl">, sets: readonly Rrset[]): string {
  const printable = sets.flatMap(({ name: owner, type, ttl: own, records }) => {
    if (!isRecordType(type)) return [];
    const read = records.map(({ value, comment }) => {
      const rdata = parseRdata(type, value, name);
      return { rdata: rdata.ok ? rdata.value.text : value, comment };
    });
    return [{ owner, type, ttl: own, records: read }];
  });
  return finish(printingZoneFile({ name, ttl, sets: printable }, "rrsets"));
}
