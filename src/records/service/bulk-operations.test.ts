import { afterEach, beforeEach, expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { inSteps } from "../../core/steps.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import { createRecordService, type RecordService } from "./service.ts";
import type { Actor } from "./sight.ts";

const owner: Actor = { account: 1, label: "owner", scope: wholeAccount };
let store: SqliteStore;
let service: RecordService;
let zoneId: string;
let steps: number;

beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", 1);
  const counting: SqliteStore = {
    ...store,
    writeAll: (requests, decide) =>
      store.writeAll(requests, function* (views) {
        const deciding = inSteps(decide(views));
        for (steps = 1; ; steps++) {
          const step = deciding.next();
          if (step.done) return step.value;
          yield;
        }
      }),
  };
  service = createRecordService({ store: counting, now: Date.now, nameservers: ["ns.example.net"] });
  const made = await service.createZone(owner, { name: "one.example", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  zoneId = made.zone.id;
});
afterEach(() => store.close());

const entry = (i: number, value: string) => ({
  zoneId,
  draft: { type: "A", name: `h${i}`, value, text: value, ttl: 60 } as const,
});

it("decides about many records in many steps, so that other requests are answered in between", async () => {
  const many = Array.from({ length: 500 }, (_, i) => i);
  const made = await service.createRecords(
    owner,
    many.map((i) => entry(i, "192.0.2.1")),
  );
  expect(steps).toBeGreaterThan(50);
  const ids = made.map((outcome) => (outcome.kind === "done" ? outcome.placed.record.id : ""));
  const changed = await service.replaceRecords(
    owner,
    many.map((i) => ({ ...entry(i, "192.0.2.2"), id: ids[i] ?? "" })),
  );
  expect(steps).toBeGreaterThan(50);
  expect(new Set(changed.map(({ kind }) => kind))).toEqual(new Set(["done"]));
});
