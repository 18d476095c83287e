import { expect, it } from "vitest";
import type { RRset } from "../records/rrset.ts";
import { checkSignedZone } from "./check-signed-zone.ts";
import { withFittingExpire } from "./soa-expire.ts";

const zone = "example.org";
/** On the wire, with the zone, this many bytes. */
const ownerOf = (length: number): string => {
  const room = length - 13;
  const labels = [60, 60, 60, room - 3 * 61 - 1].map((count) => "a".repeat(count));
  return labels.join(".");
};
const set = (owner: string): RRset => ({ owner, type: "A", ttl: null, records: [] });
const codes = (denial: "nsec" | "nsec3", before: readonly string[], wanted: readonly string[]) =>
  checkSignedZone({ zone, denial }, before.map(set), wanted.map(set)).map(({ code, where }) => [code, where]);

it("a new name below which no wildcard fits is refused with NSEC3: NSD 4.6 crashes", () => {
  const [fits, long] = [ownerOf(253), ownerOf(254)];
  expect(codes("nsec3", [], [fits, "www"])).toEqual([]);
  expect(codes("nsec3", [], [long])).toEqual([["name-too-long-for-nsec3", long]]);
  expect(codes("nsec3", [long], [long])).toEqual([]);
  expect(codes("nsec", [], [ownerOf(255)])).toEqual([]);
});

it("an SOA record that lets secondaries serve the zone for longer than its signatures are valid is refused", () => {
  const soa = (expire: number): RRset => {
    const rdata = `ns1.example. hostmaster.example. 1 86400 10800 ${expire} 3600`;
    const record = { id: "", name: "@", value: rdata, rdata, comment: "", created: 0, modified: 0 };
    return { owner: "@", type: "SOA", ttl: null, records: [record] };
  };
  const faults = (before: number, wanted: number) =>
    checkSignedZone({ zone, denial: "nsec" }, [soa(before)], [soa(wanted)]).map(({ code }) => code);
  expect(faults(3_600, 604_800)).toEqual([]);
  expect(faults(3_600, 604_801)).toEqual(["expire-too-long"]);
  // From before it was signed: its next renewal shortens it.
  expect(faults(3_600_000, 3_600_000)).toEqual([]);
  expect(withFittingExpire([soa(3_600_000), set("www")])).toEqual([soa(604_800), set("www")]);
  const fitting = [soa(3_600)];
  expect(withFittingExpire(fitting)).toBe(fitting);
});
