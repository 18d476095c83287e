import { describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { plainSettings } from "../model.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { zoneStatuses } from "./status.ts";

const made = 1_000_000;
const minute = 60_000;

async function zoneOf(mode: "primary" | "secondary") {
  const store = openSqliteStore(":memory:");
  const { id: account } = await store.ensureAccount("main", made);
  const sets = writtenSets("a.example", "@ 60 SOA ns1 hostmaster 1 7200 900 600 300");
  const settings = { ...plainSettings(600), mode };
  const zone = await createZoneIn(
    store,
    { account, id: "a", name: "a.example", settings, serial: 1, created: made, sets },
    "test",
  );
  if (typeof zone === "string") throw new Error(zone);
  return { store, zone, statusAt: async (now: number) => (await zoneStatuses(store, [zone], now))[0] };
}

describe("the status of a zone", () => {
  it("is ok for a primary zone", async () => {
    const { statusAt } = await zoneOf("primary");
    expect(await statusAt(made)).toBe("ok");
  });

  it("of a secondary zone says whether it has been transferred and has not expired", async () => {
    const { store, zone, statusAt } = await zoneOf("secondary");
    expect(await statusAt(made + 1)).toBe("updating");
    expect(await statusAt(made + minute)).toBe("error");
    const checked = made + 2 * minute;
    await store.noteSecondary(zone, { checked, serial: 1 });
    expect(await statusAt(checked + 10 * minute)).toBe("ok");
    expect(await statusAt(checked + 10 * minute + 1)).toBe("error");
  });
});
