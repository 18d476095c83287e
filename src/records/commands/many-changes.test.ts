import { afterEach, beforeEach, expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { inSteps, type Steps } from "../../core/steps.ts";
import type { Actor } from "../queries/permitted-view.ts";
import { createRecordService, type RecordService } from "../service.ts";
import type { Rule } from "../store/port.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";

const owner: Actor = { account: 1, label: "owner", scope: wholeAccount };
let store: SqliteStore;
let service: RecordService;
let zoneId: string;
/** How many steps the last decision took. */
let steps: number;
/** The most rows of the history that were read in one piece. */
let mostRead: number;

beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", 1);
  mostRead = 0;
  const counting: SqliteStore = {
    ...store,
    run: (command, rule) => store.run(command, (given) => withCount(rule(given))),
    historyOf: async (zone, query) => {
      const rows = await store.historyOf(zone, query);
      mostRead = Math.max(mostRead, rows.length);
      return rows;
    },
  };
  service = createRecordService({ store: counting, now: Date.now, nameservers: ["ns.example.net"] });
  const made = await service.createZone(owner, { name: "one.example", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  zoneId = made.zone.id;
});
afterEach(() => store.close());

function withCount<R extends Rule>(rule: R): R {
  if (rule.kind === "write-all") return { ...rule, decide: counted(rule.decide) };
  return rule.kind === "action" ? { ...rule, decide: counted(rule.decide) } : rule;
}

const counted = <View, Decided extends object>(decide: (view: View) => Decided | Steps<Decided>) =>
  function* (view: View): Steps<Decided> {
    const deciding = inSteps<Decided>(decide(view));
    for (steps = 1; ; steps++) {
      const step = deciding.next();
      if (step.done) return step.value;
      yield;
    }
  };

const many = Array.from({ length: 1_500 }, (_, i) => i);
const entry = (i: number, value: string) => ({
  zoneId,
  draft: { type: "A", name: `h${i}`, value, text: value, ttl: 60 } as const,
});

it("decides about many records in many steps, so that other requests are answered in between", async () => {
  const created = many.map((i) => entry(i, "192.0.2.1"));
  const made = await service.createRecords(owner, created);
  expect(steps).toBeGreaterThan(1_500);
  const ids = made.map((outcome) => (outcome.kind === "done" ? outcome.recordInZone.record.id : ""));

  const replaced = many.map((i) => ({ ...entry(i, "192.0.2.2"), id: ids[i] ?? "" }));
  const changed = await service.replaceRecords(owner, replaced);
  expect(steps).toBeGreaterThan(1_500);
  expect(new Set(changed.map(({ kind }) => kind))).toEqual(new Set(["done"]));

  const zone = await store.zone(1, zoneId);
  const undone = await service.undo(owner, { name: "one.example" }, zone?.serial ?? 0);
  expect(undone.kind).toBe("done");
  expect(steps).toBeGreaterThan(150);
  expect(mostRead).toBeLessThan(1_000);
  expect((await store.record(1, ids[1_499] ?? ""))?.record.rdata).toBe("192.0.2.1");
});
