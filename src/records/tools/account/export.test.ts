import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../../test/rig/any-text.ts";
import { itInLongRuns } from "../../../../test/rig/it-in-long-runs.ts";
import { runs } from "../../../../test/rig/long-run.ts";
import { patience } from "../../../../test/rig/patience.ts";
import { dropZone } from "../../../../test/rig/records/drop-zone.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import type { Scope } from "../../../core/may.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Account, ZoneSettings } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { exportAccount } from "./export.ts";
import { importObstacles, importZone, readAccount } from "./import.ts";

type Files = Map<string, string>;
const now = Date.UTC(2026, 10, 15);

async function exported(store: RecordStore, account: Account): Promise<Files> {
  const files: Files = new Map();
  // As through a file: what UTF-8 cannot encode is read back differently.
  const write = async (path: string, text: string) => void files.set(path, Buffer.from(text).toString());
  await exportAccount(store, account, { write, now, signal: AbortSignal.timeout(patience) });
  return files;
}

const read = (files: Files, edited = false) => readAccount(async (path) => files.get(path), { edited });

async function imported(store: RecordStore, account: Account, files: Files): Promise<readonly string[]> {
  const found = await read(files);
  if (!found.ok) throw new Error(JSON.stringify(found.faults));
  const outcomes: string[] = [];
  for (const zone of found.value.zones) {
    const outcome = await importZone(store, account, zone, now + 5_000);
    outcomes.push(typeof outcome === "string" ? outcome : outcome.message);
  }
  for (const { name, scope } of found.value.tokens)
    await store.addToken({ account: account.id, name, hash: `${name} again`, scope, created: now });
  return outcomes;
}

const soa = "ns1.example.net. hostmaster.example.net. 2026111500 7200 900 1209600 300";

async function makeZone(
  store: RecordStore,
  account: Account,
  name: string,
  sets: readonly RRset[],
  more: Partial<ZoneSettings> = {},
) {
  const settings = { ttl: 3_600, mode: "primary", labels: {}, locked: false, primaries: [], ...more } as const;
  const first = set("@", "SOA", [{ rdata: soa }]);
  let id = 0;
  const all = [first, ...sets].map((each) => ({
    ...each,
    records: each.records.map((record) => ({ ...record, id: `${name} ${id++}` })),
  }));
  await createZoneIn(
    store,
    { account: account.id, id: name, name, settings, serial: 2026111500, created: now, sets: all },
    "test",
  );
}

type Said = { readonly rdata: string; readonly value?: string; readonly name?: string; readonly comment?: string };

function set(owner: string, type: RecordType, records: readonly Said[], more: Partial<RRset> = {}): RRset {
  const all = records.map(({ rdata, value = rdata, name = owner, comment = "" }) => {
    const parsed = parseRdata(type, rdata, "example.org");
    if (!parsed.ok) throw new Error(`${type} ${rdata}`);
    return { id: "", name, value, rdata: parsed.value.text, comment, created: now, modified: now };
  });
  return { owner, type, ttl: null, records: all, ...more };
}

const text = fc.string({ unit: anyCharacter, maxLength: 20 });
const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.stringMatching(/^[a-z0-9]{0,5}$/), { maxKeys: 2 });
const said = (rdata: fc.Arbitrary<string>) =>
  fc.uniqueArray(fc.record({ rdata, value: text, name: text, comment: text }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ rdata: each }: Said) => each,
  });
const anySet = fc
  .record({
    owner: fc.constantFrom("@", "www", "a.b", "*", "_sip._tcp", "\\@x", "semi\\;colon"),
    kind: fc.oneof(
      fc.record({ type: fc.constant("A" as const), records: said(fc.ipV4()) }),
      fc.record({ type: fc.constant("MX" as const), records: said(fc.nat(65_535).map((n) => `${n} mx.example.org.`)) }),
      fc.record({
        type: fc.constant("TXT" as const),
        records: said(
          fc
            .array(fc.nat(255), { maxLength: 30 })
            .map((bytes) => `"${bytes.map((b) => `\\${String(b).padStart(3, "0")}`).join("")}"`),
        ),
      }),
    ),
    ttl: fc.option(fc.constantFrom(0, 60, 3_600)),
    labels,
    locked: fc.boolean(),
  })
  .map(({ owner, kind, ttl, locked, ...marks }) =>
    set(owner, kind.type, kind.records, {
      ttl,
      ...(locked && { locked }),
      ...(Object.keys(marks.labels).length > 0 && marks),
    }),
  );
const anyZone = fc.uniqueArray(anySet, { maxLength: 6, selector: ({ owner, type }) => `${owner} ${type}` });

async function withTwo<T>(work: (one: RecordStore, two: RecordStore) => Promise<T>): Promise<T> {
  const [one, two] = [openSqliteStore(":memory:"), openSqliteStore(":memory:")];
  try {
    return await work(one, two);
  } finally {
    one.close();
    two.close();
  }
}

describe("export, import, export", () => {
  it("gives the same bytes, whatever was sent to an API", async () => {
    await fc.assert(
      fc.asyncProperty(anyZone, anyZone, labels, fc.boolean(), (sets, others, zoneLabels, locked) =>
        withTwo(async (one, two) => {
          const account = await one.ensureAccount("main", now);
          await makeZone(one, account, "example.org", sets, { labels: zoneLabels, locked, ttl: 60 });
          await makeZone(one, account, "0/25.2.0.192.in-addr.arpa", others);
          const first = await exported(one, account);
          const other = await two.ensureAccount("other", now);
          expect(await imported(two, other, first)).toEqual(["made", "made"]);
          expect(await exported(two, other)).toEqual(first);
        }),
      ),
      runs(10),
    );
  });

  it("contains only the names and scopes of tokens", async () => {
    await withTwo(async (one, two) => {
      const account = await one.ensureAccount("main", now);
      const scope: Scope = {
        access: "read",
        zones: ["example.org"],
        sets: [{ owner: "www", types: ["A"] }],
        expires: now,
      };
      await one.addToken({ account: account.id, name: "updater", hash: "a-hash", scope, created: now });
      const gone = await one.addToken({ account: account.id, name: "gone", hash: "b-hash", scope, created: now });
      await one.revokeToken(gone.id, now);
      const first = await exported(one, account);
      expect(JSON.parse(first.get("manifest.json") ?? "")).toMatchObject({ tokens: [{ name: "updater", scope }] });
      expect(first.get("manifest.json")).not.toMatch(/hash|gone/);
      const other = await two.ensureAccount("main", now);
      await imported(two, other, first);
      expect(await exported(two, other)).toEqual(first);
    });
  });

  it("omits the keys of primary servers, and still gives the same bytes", async () => {
    await withTwo(async (one, two) => {
      const account = await one.ensureAccount("main", now);
      const tsig = { algorithm: "hmac-sha256", key: "c2VjcmV0" };
      const server = { id: "p", address: "192.0.2.53", port: 53, tsig, created: now, modified: now };
      await makeZone(one, account, "example.org", [], { mode: "secondary", primaries: [server] });
      const first = await exported(one, account);
      expect([...first.values()].join()).not.toContain("c2VjcmV0");
      const other = await two.ensureAccount("main", now);
      await imported(two, other, first);
      expect(await exported(two, other)).toEqual(first);
      // In the original store, where the key is known, it stays.
      expect(await imported(one, account, first)).toEqual(["same"]);
      expect((await one.zoneBy(account.id, { name: "example.org" }))?.settings.primaries).toEqual([server]);
    });
  });

  it("restores a zone that has changed since, and keeps the ids of unchanged records", async () => {
    await withTwo(async (one) => {
      const account = await one.ensureAccount("main", now);
      await makeZone(one, account, "example.org", [set("www", "A", [{ rdata: "192.0.2.1", value: "192.0.2.1 " }])]);
      const first = await exported(one, account);
      const zone = await one.zoneBy(account.id, { name: "example.org" });
      if (zone === undefined) throw new Error("no zone");
      await writeTo(
        one,
        { account: account.id, at: { zone: zone.id }, owners: "all", actor: "x", now },
        ({ sets }) => ({
          wanted: [...sets.filter((each) => each.type === "SOA"), set("new", "A", [{ rdata: "192.0.2.9" }])].map(
            (each) => ({
              ...each,
              records: each.records.map((record) => ({ ...record, id: record.id || "new" })),
            }),
          ),
          result: undefined,
        }),
      );
      expect(await imported(one, account, first)).toEqual(["replaced"]);
      const after = await exported(one, account);
      expect(after.get("zones/example.org.zone")).not.toEqual(first.get("zones/example.org.zone"));
      const withoutSerial = (files: Files) => files.get("zones/example.org.zone")?.replace(/2026\d{6}/, "");
      expect(withoutSerial(after)).toEqual(withoutSerial(first));
    });
  });

  it.each([
    ["NS at a wildcard", set("*.w", "NS", [{ rdata: "ns1.example.net." }])],
    ["two DNAME records", set("d", "TYPE39", [{ rdata: "\\# 3 016100" }, { rdata: "\\# 3 016200" }])],
  ])("restores a set that was stored before the APIs refused it: %s", async (_, old) => {
    await withTwo(async (one, two) => {
      const account = await one.ensureAccount("main", now);
      await makeZone(one, account, "example.org", [old]);
      const first = await exported(one, account);
      const other = await two.ensureAccount("main", now);
      expect(await imported(two, other, first)).toEqual(["made"]);
      expect(await read(first, true)).toMatchObject({ ok: true });
    });
  });

  it("splits a large zone into several files, and joins them again", async () => {
    await withTwo(async (one, two) => {
      const account = await one.ensureAccount("main", now);
      const long = (i: number) =>
        Array.from({ length: 40 }, (_, j) => `"${String(i * 100 + j).padEnd(250, "x")}"`).join(" ");
      const sets = Array.from({ length: 430 }, (_, i) => set(`t${i}`, "TXT", [{ rdata: long(i) }]));
      await makeZone(one, account, "example.org", sets);
      const first = await exported(one, account);
      expect([...first.keys()]).toEqual(["zones/example.org.zone", "zones/example.org.2.zone", "manifest.json"]);
      const other = await two.ensureAccount("main", now);
      await imported(two, other, first);
      expect(await exported(two, other)).toEqual(first);
    });
  });
});

// "a thousand faults in each of many files" tries lists of this length; zone-file.test.ts of the v1 API parses as many.
itInLongRuns("a zone file of 150,000 lines is read", async () => {
  await withTwo(async (one) => {
    const account = await one.ensureAccount("main", now);
    await makeZone(one, account, "example.org", []);
    const files = await exported(one, account);
    const more = Array.from({ length: 150_000 }, (_, i) => `h${i} IN A 192.0.2.1\n`).join("");
    files.set("zones/example.org.zone", `${files.get("zones/example.org.zone")}${more}`);
    const found = await read(files, true);
    if (!found.ok) throw new Error(JSON.stringify(found.faults));
    expect(found.value.zones[0]?.sets).toHaveLength(150_001);
  });
});

it("an export has every remaining zone, whichever is deleted in the meantime", async () => {
  await withTwo(async (one) => {
    const account = await one.ensureAccount("main", now);
    const names = Array.from({ length: 502 }, (_, i) => `z${String(i).padStart(3, "0")}.example`);
    for (const name of names) await makeZone(one, account, name, []);
    const files: Files = new Map();
    const write = async (path: string, content: string) => {
      files.set(path, content);
      await dropZone(one, account.id, { name: "z000.example" }, now);
    };
    await exportAccount(one, account, { write, now, signal: AbortSignal.timeout(patience) });
    expect(names.filter((name) => !files.has(`zones/${name}.zone`))).toEqual([]);
  });
});

describe("what cannot be imported", () => {
  const good = async (): Promise<Files> =>
    await withTwo(async (one) => {
      const account = await one.ensureAccount("main", now);
      await makeZone(one, account, "example.org", [set("www", "A", [{ rdata: "192.0.2.1", comment: "two\nlines" }])]);
      return await exported(one, account);
    });
  const zone = "zones/example.org.zone";

  const cases: [what: string, spoil: (files: Files) => void, where: RegExp, message: RegExp][] = [
    ["no manifest", (files) => files.delete("manifest.json"), /^manifest\.json$/, /does not exist/],
    [
      "a truncated manifest",
      (files) => files.set("manifest.json", "{\n  x"),
      /manifest\.json: line 2/,
      /not valid JSON/,
    ],
    [
      "a field of the wrong type",
      (files) => edit(files, "manifest.json", '"ttl": 3600', '"ttl": "1h"'),
      /manifest\.json at zones\/0\/ttl/,
      /whole number/,
    ],
    [
      "a path outside the folder",
      (files) => edit(files, "manifest.json", zone, "zones/../../x"),
      /at zones\/0\/files\/0\/path/,
      /a file in the folder zones/,
    ],
    ["a missing zone file", (files) => files.delete(zone), /^zones\/example\.org\.zone$/, /does not exist/],
    [
      "a changed zone file",
      (files) => edit(files, zone, "192.0.2.1", "192.0.2.2"),
      /^zones\/example\.org\.zone$/,
      /changed since/,
    ],
    [
      "a record that is only in the manifest",
      (files) => edit(files, "manifest.json", '"192.0.2.1"', '"192.0.2.9"'),
      /manifest\.json/,
      /has an entry for www A 192\.0\.2\.9 in example\.org, but the zone file has no such record/,
    ],
  ];
  it.each(cases)("%s", async (_, spoil, where, message) => {
    const files = await good();
    spoil(files);
    const found = await read(files);
    if (found.ok) throw new Error("nothing was found");
    expect(found.faults[0]?.where).toMatch(where);
    expect(found.faults[0]?.message).toMatch(message);
    expect(found.faults[0]?.todo).toBeTruthy();
  });

  it("every fault of every zone file, with its line", async () => {
    const files = await good();
    edit(files, zone, "192.0.2.1", "192.0.2.999");
    files.set(zone, `${files.get(zone)}bad IN NOPE x\nwww IN CNAME a\n`);
    const found = await read(files, true);
    expect(found).toMatchObject({
      ok: false,
      faults: [{ where: /line 6/ }, { where: /line 7/ }].map(({ where }) => ({ where: expect.stringMatching(where) })),
    });
  });

  it("new sets that the APIs refuse, in changed files", async () => {
    const files = await good();
    files.set(zone, `${files.get(zone)}*.w IN NS ns1.example.net.\n`);
    expect(await read(files, true)).toMatchObject({
      ok: false,
      faults: [{ code: "ns-at-wildcard", where: `${zone}: line 7` }],
    });
  });

  it("a thousand faults in each of many files", async () => {
    const files = await good();
    edit(
      files,
      "manifest.json",
      `{\n          "path": "${zone}"`,
      `${`{"path": "zones/more", "sha256": ""},`.repeat(150)}{\n          "path": "${zone}"`,
    );
    files.set("zones/more", "bad IN NOPE x\n".repeat(1_000));
    const found = await read(files, true);
    if (found.ok) throw new Error("nothing was found");
    expect(found.faults.length).toBeGreaterThan(150_000);
  });

  it("existing zones, unless they are to be replaced; other accounts' zones in any case", async () => {
    await withTwo(async (one) => {
      const [mine, other] = [await one.ensureAccount("main", now), await one.ensureAccount("other", now)];
      await makeZone(one, mine, "example.org", []);
      const found = await read(await good());
      if (!found.ok) throw new Error("faults");
      const { zones } = found.value;
      expect(await importObstacles(one, mine, zones, false)).toMatchObject(
        [{ where: "zone example.org", todo: /--replace/ }].map((each) => ({
          ...each,
          todo: expect.stringMatching(each.todo),
        })),
      );
      expect(await importObstacles(one, mine, zones, true)).toEqual([]);
      expect(await importObstacles(one, other, zones, true)).toMatchObject([
        { message: "it belongs to another account" },
      ]);
    });
  });
});

function edit(files: Files, path: string, from: string, to: string): void {
  const before = files.get(path) ?? "";
  if (!before.includes(from)) throw new Error(`${path} has no ${from}`);
  files.set(path, before.replace(from, to));
}
