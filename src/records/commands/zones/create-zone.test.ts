import { afterEach, beforeEach, expect, it } from "vitest";
import { wholeAccount } from "../../../core/may.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import { createRecordService } from "../../service.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/store.ts";
import type { NewZoneDraft } from "../requests.ts";

const owner: Actor = { account: 1, label: "owner", scope: wholeAccount };
let store: SqliteStore;

beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", 1);
});
afterEach(() => store.close());

async function outcomeOf(content: NewZoneDraft["content"]): Promise<readonly string[]> {
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns.example.net"] });
  const made = await service.createZone(owner, { name: "one.example", ttl: 60, ...(content && { content }) });
  return made.kind === "refused" ? made.faults.map(({ code, where }) => `${code} ${where}`) : [made.kind];
}

const addresses = (count: number) => Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
const set = (name: string, type: string, values: readonly string[]) => ({
  kind: "sets" as const,
  sets: [{ name, type, records: values.map((value) => ({ value, comment: "" })) }],
});

const param = "\\# 5 0100000000";
/** On the wire, with the zone, 254 bytes. */
const long = [60, 60, 60, 57].map((count) => "a".repeat(count)).join(".");

it.for([
  ["100 values", set("www", "A", addresses(100)), ["done"]],
  ["more values than an edit may leave", set("www", "A", addresses(101)), ["too-many-values www A"]],
  ["a name below which no wildcard fits", set(long, "A", addresses(1)), [`name-too-long-for-nsec3 ${long}`]],
  ["a record of a signed chain", set("@", "TYPE51", [param]), ["made-by-signing @ TYPE51"]],
] as const)("a new zone with the sets of the request is an edit: %s", async ([, content, outcome]) => {
  expect(await outcomeOf(content)).toEqual(outcome);
});

const chain = `@ 60 TYPE51 ${param}`;
const longLine = `${long} 60 A 192.0.2.1`;

it.each([
  ["may have larger sets, and a signed chain", [chain, ...addresses(101).map((each) => `www 60 A ${each}`)], ["done"]],
  ["may have a name below which no wildcard fits", [longLine], ["done"]],
  ["may not have both: NSD crashes, for all its zones", [chain, longLine], [`name-too-long-for-nsec3 ${long}`]],
])("a new zone from a file %s", async (_, lines, outcome) => {
  const text = `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n${lines.join("\n")}\n`;
  expect(await outcomeOf({ kind: "file", text })).toEqual(outcome);
});
