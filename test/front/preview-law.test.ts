import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { usualQuotas } from "../../src/core/quotas.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { isLongRun } from "../rig/long-run.ts";
import { type Json, Moor } from "./two-moors.ts";

/** A zone here has at most six records, with its SOA. */
const recordLimits = { zone: 6, account: 100_000, set: 50, quotas: usualQuotas };
const dataFolder = mkdtempSync(join(tmpdir(), "moor-previews-"));
let [front, there]: [Moor, Moor] = [] as never;
beforeAll(async () => {
  [front, there] = [await Moor.start({ dataFolder, recordLimits }), await Moor.start()];
});
afterAll(async () => {
  await front.service.close();
  await there.service.close();
});

const values: Readonly<Record<string, readonly string[]>> = {
  A: ["192.0.2.1", "192.0.2.2", "192.0.2.3"],
  TXT: ['"a"', '"b"'],
  CNAME: ["example.net."],
  NS: ["ns.example.net."],
};
const set = fc.record({
  name: fc.constantFrom("www", "sub", "a.sub"),
  type: fc.constantFrom("A", "TXT", "CNAME", "NS"),
  count: fc.integer({ min: 1, max: 3 }),
  ttl: fc.constantFrom(60, 300),
  isProtected: fc.boolean(),
});
type MadeSet = typeof set extends fc.Arbitrary<infer T> ? T : never;
const sets = fc.uniqueArray(set, { maxLength: 4, selector: ({ name, type }) => `${name} ${type}` });
const cases = fc.record({
  there: sets,
  /** Undefined: the zone is not here yet. */
  here: fc.option(sets, { nil: undefined, freq: 3 }),
  fill: fc.constantFrom("theirs", "ours"),
});

/** What the zone refuses is not in it. */
async function fill(moor: Moor, zone: string, made: readonly MadeSet[]): Promise<void> {
  await moor.ok("POST", "/zones", { name: zone, mode: "primary" });
  for (const { name, type, count, ttl, isProtected } of made) {
    const records = (values[type] ?? []).slice(0, count).map((value) => ({ value }));
    const { status } = await moor.call("POST", `/zones/${zone}/rrsets`, { name, type, ttl, records });
    if (status !== 201 || moor === there || !isProtected) continue;
    await moor.ok("POST", `/zones/${zone}/rrsets/${name}/${type}/actions/change_protection`, { change: true });
  }
}

/** Everything that is stored, but for when tokens were used. */
function stored(): string {
  const database = new DatabaseSync(recordsDatabase(dataFolder), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'tokens'").all();
    return JSON.stringify(
      tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${String(name)}"`).all()]),
      (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
    );
  } finally {
    database.close();
  }
}

test("a preview writes nothing, and publishing does what it said", { timeout: 120_000 }, async () => {
  let zones = 0;
  const seen = new Set<string>();
  const law = fc.asyncProperty(cases, async (made) => {
    zones += 1;
    const zone = `law${zones}.example`;
    await fill(there, zone, made.there);
    if (made.here) await fill(front, zone, made.here);
    const account = { kind: "hetzner", url: there.service.url, token: there.token };
    const wanted = { provider: `new${zones}`, account, create: true };
    const before = stored();
    const { preview } = await front.ok("POST", `/zones/${zone}/publication/preview`, wanted);
    expect(stored()).toBe(before);
    const body = { ...wanted, digest: preview.digest, fill: made.fill };
    const published = await front.call("POST", `/zones/${zone}/actions/publish`, body);
    const refusals: readonly string[] = preview.refused[made.fill];
    expect(published.status < 300, `${JSON.stringify(refusals)} ${published.text}`).toBe(refusals.length === 0);
    seen.add(`${made.fill} ${made.here ? "here" : "new"} ${published.status}`);
    if (published.status >= 300) {
      expect(stored()).toBe(before);
      return;
    }
    const counts = async () => (await front.ok("GET", `/zones/${zone}/publication`)).publication.counts;
    await expect.poll(async () => (await counts()).waiting).toBe(0);
    const [here, elsewhere] = [await front.lines(zone), await there.lines(zone)];
    expect(here).toEqual(elsewhere);
    const names = (each: readonly Json[]) => each.map(({ name, type }) => `${name} ${type}`);
    const kept = made.fill === "theirs" ? preview.only_there : preview.only_here;
    const gone = made.fill === "theirs" ? preview.only_here : preview.only_there;
    const after = new Set(here.map((line) => `${line.split(" ")[0]} ${line.split(" ")[2]}`));
    expect(names(kept).filter((each) => !after.has(each))).toEqual([]);
    expect(names(gone).filter((each) => after.has(each))).toEqual([]);
  });
  await fc.assert(law, {
    numRuns: isLongRun ? 300 : 40,
    examples: [
      // Too many records, a protected set, nothing here, and both ways that work.
      ...[example(undefined, "theirs"), example(undefined, "ours"), example([one], "theirs"), example([one], "ours")],
      example([{ ...one, isProtected: true }], "theirs"),
      [{ there: [...many], here: [], fill: "theirs" }],
    ],
  });
  const examples = ["theirs new 201", "ours new 422", "theirs here 201", "ours here 201", "theirs here 423"];
  expect([...seen]).toEqual(expect.arrayContaining([...examples, "theirs here 403"]));
});

const one: MadeSet = { name: "www", type: "A", count: 1, ttl: 300, isProtected: false };
const many: readonly MadeSet[] = (["www", "sub", "a.sub"] as const).map((name) => ({ ...one, name, count: 3 }));
const example = (here: readonly MadeSet[] | undefined, fill: "theirs" | "ours") =>
  [{ there: [{ ...one, name: "sub" }], here: here && [...here], fill }] as [never];

const imports = fc.record({
  here: fc.option(sets, { nil: undefined, freq: 3 }),
  file: sets,
  merge: fc.boolean(),
  own: fc.constantFrom(undefined, "zone", "file"),
  servers: fc.boolean(),
  defaultTtl: fc.constantFrom("", "$TTL 30\n", "$TTL 900\n"),
});

/** The records of the sets, each with its TTL; some have the zone's. */
const fileOf = (made: readonly MadeSet[]): string =>
  made
    .flatMap(({ name, type, count, ttl, isProtected }) =>
      (values[type] ?? []).slice(0, count).map((value) => `${name} ${isProtected ? "" : ttl - 50} ${type} ${value}\n`),
    )
    .join("");

test("a preview of an import writes nothing, and is refused as the import is", { timeout: 120_000 }, async () => {
  let zones = 0;
  const seen = new Set<string>();
  const law = fc.asyncProperty(imports, async ({ here, file, merge, own, servers, defaultTtl }) => {
    zones += 1;
    const zone = `import${zones}.example`;
    if (here) await fill(front, zone, here);
    const ownRecords = "@ SOA ns1.example.net. h.example.net. 1 2 3 4 5\n@ NS ns1.example.net.\n";
    const zonefile = `${defaultTtl}${servers ? ownRecords : ""}${fileOf(file)}`;
    const body = { zonefile, ...(merge && { merge }), ...(own && { own_records: own }) };
    const before = stored();
    const tried = await front.call("POST", `/zones/${zone}/zonefile/preview`, { ...body, create: here === undefined });
    expect(stored()).toBe(before);
    const written = here
      ? await front.call("POST", `/zones/${zone}/actions/import_zonefile`, body)
      : await front.call("POST", "/zones", { ...body, name: zone, mode: "primary" });
    expect([tried.status === 200 ? 201 : tried.status, tried.json.error, tried.json.notes ?? []]).toEqual([
      written.status,
      written.json.error,
      written.json.notes ?? (written.status === 201 ? [] : (tried.json.notes ?? [])),
    ]);
    if (written.status !== 201) expect(stored()).toBe(before);
    seen.add(`${here ? "here" : "new"} ${written.status}`);
  });
  await fc.assert(law, { numRuns: isLongRun ? 300 : 40 });
  expect([...seen]).toEqual(expect.arrayContaining(["new 201", "here 201", "here 422"]));
});
