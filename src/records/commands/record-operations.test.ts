import { expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { plainSettings, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import type { PermittedView } from "../queries/permitted-view.ts";
import { recordOperations } from "./record-operations.ts";

/** Two zones that have this many records together; none of them is read here. */
function operationsOf(records: number) {
  const zone = { settings: plainSettings(60), account: 1 } as Zone;
  const zones = [
    { ...zone, name: "a.example", recordCount: records - 10 },
    { ...zone, name: "b.example", recordCount: 10 },
  ];
  const store = { zonesAfter: async () => zones } as unknown as RecordServiceOptions["store"];
  const view = { allows: () => true, sets: async () => [] } as unknown as PermittedView;
  return recordOperations({ store, now: () => 1 } as RecordServiceOptions, view, { next: async () => undefined });
}

it.each([
  ["as many records as one answer may have", 50_000, {}, "done"],
  ["more", 50_001, {}, "refused"],
  ["more, of which one name is asked for", 50_001, { name: "www" }, "done"],
])("the list of all zones that have %s", async (_, records, query, kind) => {
  const actor = { account: 1, label: "test", scope: wholeAccount };
  expect((await operationsOf(records).records(actor, query)).kind).toBe(kind);
});
