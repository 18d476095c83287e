import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { signedZone } from "../../test/rig/core/signed-zone.suite.ts";
import { writtenZone } from "../../test/rig/core/written-sets.suite.ts";

const hosts = Array.from({ length: 1_000 }, (_, i) => i);

const text = [
  "@ - NS ns1",
  "ns1 - A 192.0.2.1",
  ...hosts.flatMap((i) => [`h${i} - A 192.0.2.${i % 256}`, `w${i} - CNAME h${i}`]),
].join("\n");

/** A zone of a thousand hosts, each with an alias. */
export const benchZone: ZoneContent = writtenZone("bench.example", text);

/** `benchZone` with a chain, and signatures of the size that ECDSA gives them. */
export const signedBenchZone = (kind: "nsec" | "nsec3"): ZoneContent =>
  signedZone("bench.example", text, { kind, bytes: 64 });

/** Queries in the format of dnsperf. */
export const benchQuestions: Readonly<Record<string, readonly string[]>> = {
  "an existing name": hosts.map((i) => `h${i}.bench.example A`),
  "an alias": hosts.map((i) => `w${i}.bench.example A`),
  "no such type": hosts.map((i) => `h${i}.bench.example AAAA`),
  "no such name": Array.from({ length: 50_000 }, (_, i) => `no${i}.bench.example A`),
};
