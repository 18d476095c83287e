import { expect, it } from "vitest";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { previewImport } from "./preview-import.ts";

const set = (name: string, type: string, value: string, ttl: number | null = null): Rrset => ({
  id: `${name}/${type}`,
  name,
  type,
  ttl,
  labels: {},
  protection: { change: false },
  zone: 1,
  records: [{ value, comment: "" }],
});
const preview = (file: string, ttlOfServers: number | null) =>
  previewImport(file, { name: "example.org", ttl: 3600, nameservers: [] }, [
    set("@", "SOA", "ns1 hostmaster 7 1 2 3 4"),
    set("@", "NS", "ns1", ttlOfServers),
    set("www", "A", "192.0.2.1"),
  ]);

const untimed = "www A 192.0.2.1\n";

it("a file without TTLs inherits none from the kept records", () => {
  expect(preview(untimed, 7200)).toMatchObject({ faults: [], changes: [] });
});

it.each([null, 7200])("kept records inherit neither the TTL nor the origin of the file: %s", (ttl) => {
  const { faults, changes } = preview("$ORIGIN sub.example.org.\nwww.example.org. 600 A 192.0.2.1 ; last", ttl);
  expect(faults).toEqual([]);
  expect(changes).toMatchObject([{ name: "www", after: "192.0.2.1 ; last, TTL 600" }]);
});

it("a change of the TTL shows both sides, also if one is the zone's default", () => {
  expect(preview("www 600 A 192.0.2.1\n", null).changes).toMatchObject([
    { name: "www", before: "192.0.2.1, TTL default", after: "192.0.2.1, TTL 600" },
  ]);
});

it("a kept record stays as it is, also with a TTL that is too short for an import", () => {
  expect(preview(untimed, 30)).toMatchObject({ faults: [], changes: [] });
});
