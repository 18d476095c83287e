import { expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { callV1, get, newZone } = rrsetsService({ hostmaster: "dns.example.net" });

it("the SOA of a new zone names the operator's mailbox, whichever API creates the zone", async () => {
  await callV1("POST", "/zones", { name: "made-over-v1.example" });
  for (const name of ["made-over-v1.example", (await newZone()).name]) {
    const [{ value }] = (await get(`/zones/${name}/rrsets/@/SOA`)).rrset.records;
    expect(value).toMatch(/^ns1\.example\.net\. dns\.example\.net\. \d{10} 3600 300 604800 3600$/);
  }
});
