import { startNameserver } from "../../../src/nameserver/start.ts";
import { createLog } from "../../../src/process/log.ts";
import { zonesInMemory } from "../../nameserver/zones-in-memory.ts";
import { writtenZone } from "../core/written-sets.suite.ts";
import type { TargetPeer } from "./target-faults.ts";

const zoneOf = (lines: readonly string[]) =>
  writtenZone("example.org", ["@ 600 NS ns1.example.net.", ...lines].join("\n"));

/**
 * moor's nameserver over a zone in memory, for services that show their records only in DNS. It needs no record
 * service, which would store each zone that a test begins with.
 */
export async function openNameserver(settings: (dnsPort: number) => string): Promise<TargetPeer> {
  let held: readonly string[] = [];
  const source = zonesInMemory(zoneOf(held));
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  const dns = await startNameserver({ listen: [{ host: "127.0.0.1", port: 0 }], source, log });
  return {
    settings: settings(dns.addresses[0]?.port ?? 0),
    fill(lines) {
      held = lines.toSorted();
      source.write("example.org", zoneOf(held).sets);
    },
    held: () => held,
    close: () => dns.close(),
  };
}
