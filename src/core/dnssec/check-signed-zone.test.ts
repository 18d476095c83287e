import { expect, it } from "vitest";
import type { RRset } from "../records/rrset.ts";
import { checkSignedZone } from "./check-signed-zone.ts";

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
