import { writeFile } from "node:fs/promises";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { signedZone } from "../../test/rig/core/signed-zone.suite.ts";
import { writtenZone } from "../../test/rig/core/written-sets.suite.ts";
import { createRandom } from "../../test/rig/random.ts";

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

/** Names in the zone. */
const names = {
  "an existing name": hosts.map((i) => `h${i}`),
  "an alias": hosts.map((i) => `w${i}`),
  "no such type": hosts.map((i) => `h${i}`),
  "no such name": Array.from({ length: 50_000 }, (_, i) => `no${i}`),
  "a random name": randomLabels(50_000),
} as const;

export type Question = keyof typeof names;
export const questions = Object.keys(names) as readonly Question[];

/** In the format of dnsperf. */
export const queriesOf = (question: Question): readonly string[] =>
  names[question].map((name) => `${name}.bench.example ${question === "no such type" ? "AAAA" : "A"}`);

export const writeQuestions = (file: string, question: Question): Promise<void> =>
  writeFile(file, queriesOf(question).join("\n"));

function randomLabels(count: number): readonly string[] {
  const random = createRandom(1);
  return Array.from({ length: count }, () => `${random(2 ** 31).toString(36)}${random(2 ** 31).toString(36)}`);
}
