import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { typeName } from "../../src/core/rdata/table.ts";
import { finish } from "../../src/core/steps.ts";
import { parseZoneFile } from "../../src/core/zone-file/parse.ts";
import { printingZoneFile } from "../../src/core/zone-file/print.ts";
import { randomData } from "../rig/core/random-data.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { seed } from "../rig/seed.ts";

const run = promisify(execFile);
const zone = "types.test";
const perType = 25;

/** Signing makes them, and servers check how they fit together. */
const madeBySigning = [46, 47, 50, 51];

const examples = Object.entries(randomData).flatMap(([code, data]) =>
  fc
    .sample(data, { seed, numRuns: perType })
    .map((bytes, i) => ({ code: Number(code), owner: `t${code}-${i}`, hex: Buffer.from(bytes).toString("hex") })),
);

const head = "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n";

type Example = (typeof examples)[number];

/** As moor exports it. */
function exported(some: readonly Example[]): string {
  const lines = some.map(({ owner, code, hex }) => `${owner} 60 TYPE${code} \\# ${hex.length / 2} ${hex}`);
  return finish(
    printingZoneFile({ name: zone, ttl: 60, sets: writtenSets(zone, `${head}${lines.join("\n")}\n`) }, "v1"),
  );
}

/** The data of each owner. */
function dataIn(text: string): ReadonlyMap<string, string> {
  const file = parseZoneFile(text, zone);
  if (!file.ok) {
    const lines = text.split("\n");
    const told = file.faults.map(({ where, message }) => `${message}: ${lines[Number(where.slice(5)) - 1]}`);
    throw new Error(told.slice(0, 20).join("\n"));
  }
  return new Map(file.value.sets.map(({ owner, type, records }) => [`${owner} ${type}`, records[0]?.rdata ?? ""]));
}

/** What another program makes of moor's file has the same data, and so has what moor makes of that program's file. */
async function expectSameData(some: readonly Example[], program: (file: string) => Promise<string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "moor-types-"));
  try {
    const file = join(folder, "types.zone");
    const text = exported(some);
    await writeFile(file, text);
    const theirs = dataIn(await program(file));
    const wanted = some.map(
      ({ owner, code, hex }) => [`${owner} TYPE${code}`, `\\# ${hex.length / 2} ${hex}`] as const,
    );
    expect(
      wanted.filter(([key, data]) => theirs.get(key) !== data).map(([key, data]) => [key, data, theirs.get(key)]),
    ).toEqual([]);
    const named = text.split("\n").filter((line) => /\tTYPE\d+\t/.test(line));
    expect(named).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const options = { maxBuffer: 64 * 1024 * 1024 };

/** BIND 9.18 has no text format for them yet. */
const unknownToBind = [263, 264];

it("BIND reads moor's text of every type, and moor reads BIND's, with the same bytes", async () => {
  const known = examples.filter(({ code }) => ![...unknownToBind, ...madeBySigning].includes(code));
  await expectSameData(known, async (file) => {
    const checks = [
      "-i",
      "none",
      "-k",
      "ignore",
      "-n",
      "ignore",
      "-m",
      "ignore",
      "-M",
      "ignore",
      "-S",
      "ignore",
      "-T",
      "ignore",
    ];
    const { stdout } = await run("named-compilezone", ["-q", "-D", ...checks, "-o", "-", zone, file], options);
    return stdout;
  });
});

/** ldns 1.8 has no text format for them; its NSAP-PTR is a string. */
const unknownToLdns = [23, 66, 67, 68, 258, 259, 260, 261, 262, 263, 264, 32_768];

it("ldns reads moor's text of every type, and moor reads that of ldns, with the same bytes", async () => {
  // ldns prints these in a name without a backslash.
  const hasMarks = (hex: string) => /["@();$]/.test(Buffer.from(hex, "hex").toString("latin1"));
  const known = examples.filter(
    ({ code, hex }) => ![...unknownToLdns, ...madeBySigning].includes(code) && !hasMarks(hex),
  );
  await expectSameData(known, async (file) => {
    const { stdout } = await run("ldns-read-zone", [file], options);
    return stdout;
  });
});

it("these are all types with a text format", () => {
  expect(examples.every(({ code }) => !typeName(`TYPE${code}`).startsWith("TYPE"))).toBe(true);
});
