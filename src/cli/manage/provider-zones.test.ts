import { expect, it } from "vitest";
import { parseType, type RecordType } from "../../core/rdata/table.ts";
import type { Provider, ProviderSet } from "../../providers/provider.ts";
import { readZoneAt } from "./provider-zones.ts";

it("says which sets that signing makes are left out, DNSKEY among them", async () => {
  const made = (type: string, values: readonly string[]): ProviderSet => ({
    ...{ owner: "@", type: parseType(type) as RecordType, ttl: 300, values, hasMixedTtl: false },
  });
  const sets = [made("A", ["192.0.2.1"]), made("DNSKEY", ["257 3 13 AAAA"]), made("CDS", ["0 0 0 00"])];
  const provider = { sets: async () => ({ kind: "found", value: { sets, unreadable: [] } }) } as unknown as Provider;
  expect(await readZoneAt(provider, { name: "example.org" }, AbortSignal.timeout(1_000))).toMatchObject({
    sets: [{ type: "A" }],
    left: [expect.stringMatching(/^DNSKEY, CDS: made by signing; /)],
  });
});
