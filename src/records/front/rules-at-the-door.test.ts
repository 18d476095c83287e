import { describe, expect, test } from "vitest";
import type { ProviderKind } from "../../contract/provider-kinds.ts";
import { publishedFaults } from "../../core/provider-rules.ts";
import { parseType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { openAccount } from "./open-accounts.ts";
import { OpenedAccount } from "./provider-accounts.ts";

const clock = { now: () => 1_000, random: () => 0 };
const { signal } = new AbortController();

/** What is said at the door to a set of a zone at this provider; `lowestTtl` is what its list of zones says. */
async function saidTo(kind: ProviderKind, given: string, lowestTtl?: number): Promise<readonly string[]> {
  const url = kind === "dns-update" ? "dns://127.0.0.1:53" : "http://127.0.0.1:9";
  const account = new OpenedAccount({ id: 1, name: kind, replaced: 0 } as never, "", clock);
  const provider = await openAccount({ kind, url, ca: undefined }, () => "token", clock);
  const listed = [{ id: "1", name: "one.example", ...(lowestTtl && { lowestTtl }) }];
  account.provider = { ...provider, zones: async () => ({ kind: "found", value: listed }) };
  const rules = await account.rules("one.example", signal);
  provider.close();
  if (rules.kind !== "found") throw new Error(rules.because);
  const faults = publishedFaults(3_600, { service: provider.service, rules: rules.value }, [setOf(given)]);
  return faults.map(({ message }) => message);
}

/** `TTL TYPE`, and how many values it has. */
function setOf(text: string): RRset {
  const [ttl = "", type = "", count = "1"] = text.split(" ");
  const records = Array.from({ length: Number(count) }, () => ({ rdata: "" }));
  return { owner: "www", type: parseType(type), ttl: ttl === "-" ? null : Number(ttl), records } as unknown as RRset;
}

const cases: Readonly<Record<ProviderKind, readonly (readonly [set: string, said?: string])[]>> = {
  hetzner: [
    ["60 A"],
    ["- A"],
    ["2147483647 TXT"],
    ["59 A", "Hetzner takes TTLs from 60 to 2147483647 seconds, not 59"],
    ...[..."AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SRV SVCB TLSA TXT".split(" ")].map((t) => [`300 ${t}`] as const),
    ["300 SSHFP", "SSHFP records cannot be published at Hetzner"],
    ["300 TYPE65280", "TYPE65280 records cannot be published at Hetzner"],
    ["300 A 50"],
    ["300 A 51", "Hetzner stores at most 50 values in a set"],
  ],
  "hetzner-v1": [
    ["60 A"],
    ["59 A", "Hetzner takes TTLs from 60 to 2147483647 seconds, not 59"],
    ...[..."AAAA CAA CNAME DS HINFO MX NS PTR RP SRV TLSA TXT".split(" ")].map((t) => [`300 ${t}`] as const),
    ["300 HTTPS", "HTTPS records cannot be published at Hetzner"],
    ["300 SVCB", "SVCB records cannot be published at Hetzner"],
    ["300 A 51", "Hetzner stores at most 50 values in a set"],
  ],
  cloudflare: [
    ["60 A"],
    ["86400 A"],
    ["59 A", "Cloudflare takes TTLs from 60 to 86400 seconds, not 59"],
    // For its API that is the automatic TTL; here it would be a second.
    ["1 A", "Cloudflare takes TTLs from 60 to 86400 seconds, not 1"],
    ["86401 A", "Cloudflare takes TTLs from 60 to 86400 seconds, not 86401"],
    ...[..."AAAA CAA CNAME DS HTTPS MX NS PTR".split(" ")].map((t) => [`300 ${t}`] as const),
    ...[..."SMIMEA SRV SSHFP SVCB TLSA TXT".split(" ")].map((t) => [`300 ${t}`] as const),
    ["300 LOC", "LOC records cannot be published at Cloudflare"],
    ["300 HINFO", "HINFO records cannot be published at Cloudflare"],
    ["300 A 201", "Cloudflare stores at most 200 values in a set"],
  ],
  desec: [
    ["3600 A"],
    ["604800 A"],
    ["- A"],
    ["3599 A", "deSEC takes TTLs from 3600 to 604800 seconds, not 3599"],
    ["604801 A", "deSEC takes TTLs from 3600 to 604800 seconds, not 604801"],
    ["3600 SSHFP"],
    ["3600 A 4092", "deSEC stores at most 4091 values in a set"],
  ],
  "netcup-cloud": [["1 A"], ["2147483647 TXT"], ["300 A 1001", "netcup CloudDNS stores at most 1000 values in a set"]],
  powerdns: [["0 A"], ["2147483647 TYPE65280"], ["300 A 1001", "PowerDNS stores at most 1000 values in a set"]],
  "dns-update": [
    ["0 A"],
    ["2147483647 TYPE65280"],
    ["300 A 1001", "the nameserver stores at most 1000 values in a set"],
  ],
  moor: [
    ["60 SSHFP"],
    ["59 A", "moor records takes TTLs from 60 to 2147483647 seconds, not 59"],
    ["60 A 51", "moor records stores at most 50 values in a set"],
  ],
};

describe.each(Object.entries(cases))("at the door of a zone at %s", (kind, sets) => {
  test.each(sets.map(([set, said = ""]) => [set, said] as const))("%s: %s", async (set, said) => {
    expect(await saidTo(kind as ProviderKind, set)).toEqual(said === "" ? [] : [said]);
  });
});

test("a zone at deSEC has its own lowest TTL", async () => {
  expect(await saidTo("desec", "60 A", 60)).toEqual([]);
  expect(await saidTo("desec", "59 A", 60)).toEqual(["deSEC takes TTLs from 60 to 604800 seconds, not 59"]);
});
