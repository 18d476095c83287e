import { expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import type { Zone } from "../model.ts";
import type { ZoneFilter } from "../store/port.ts";
import { allZones } from "./all-zones.ts";

const names = Array.from({ length: 450 }, (_, i) => `z${String(i).padStart(3, "0")}.example`);

/** What is asked of the schedule and of the store, in order. */
function rig() {
  const asked: unknown[] = [];
  const schedule = { next: async (account: number) => void asked.push(`turn of ${account}`) };
  const zonesAfter = async (_: number, after: string, limit: number, { within }: ZoneFilter) => {
    asked.push(within ?? `after ${after}`);
    return names.flatMap((name) => (name > after ? [{ name } as Zone] : [])).slice(0, limit);
  };
  return { asked, tools: { store: { zonesAfter }, schedule } };
}

const actor = { account: 7, label: "test", scope: wholeAccount };

it("every part of an account's zones waits for its turn: they may have many labels", async () => {
  const { asked, tools } = rig();
  const kept = await allZones(tools, actor, ({ name }) => name > "z440");
  expect(kept.map(({ name }) => name)).toEqual(names.slice(440));
  const turn = "turn of 7";
  expect(asked).toEqual([turn, "after ", turn, "after z199.example", turn, "after z399.example"]);
});

it("of a token with few zones, only those are read", async () => {
  const { asked, tools } = rig();
  const scope = { ...wholeAccount, zones: ["a.example"] };
  await allZones(tools, { ...actor, scope }, () => true);
  expect(asked).toContainEqual(["a.example"]);
});
