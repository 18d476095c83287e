import { expect, it } from "vitest";
import { finish } from "../../../core/steps.ts";
import { type LoggedRow, plainSettings, type Zone } from "../../model.ts";
import { hasUnsigned, mostRows, readingUnsigned, type UnreadRow } from "./plan-step.ts";

const zone: Zone = {
  ...{ number: 1, id: "z", account: 1, name: "z.example", settings: plainSettings(60), serial: 1, created: 1 },
  ...{ modified: 1, recordCount: 1, signedNamesNumber: 2 },
};

let reads = 0;

/** Newest first. */
function* rowsOf(changes: readonly LoggedRow["change"][]): Generator<UnreadRow> {
  const { account, number, name: zoneName, serial } = zone;
  for (const [i, change] of changes.entries()) {
    const position = changes.length - i;
    const read = () => {
      reads += 1;
      return { position, account, zone: number, zoneName, serial, at: 1, actor: "tester", change };
    };
    yield { position, change: JSON.stringify(change), read };
  }
}

const set = { kind: "create", owner: "h", type: "A", before: null, unsigned: true } as const;
const changed = { ...set, after: { owner: "h", type: "A", ttl: null, records: [] } } as const;
const settings = { kind: "settings", before: zone.settings, after: plainSettings(120), unsigned: true } as const;
const signed = (through: number) => ({ kind: "signatures", sets: null, after: 0, through }) as const;

it("of very many unsigned changes, only as many are read as a step plans, but all that concern the whole zone", () => {
  reads = 0;
  const many = Array.from({ length: 3 * mostRows }, () => changed);
  const { after, rows } = finish(readingUnsigned(zone, rowsOf([...many, settings, signed(1), changed])));
  expect(after).toBe(1);
  expect(rows.map(({ change }) => change.kind).slice(0, 2)).toEqual(["settings", "create"]);
  expect(rows.length).toBeGreaterThan(mostRows);
  expect(reads).toBeLessThan(mostRows + 10);
});

it.each([
  [[changed, signed(1), changed], true],
  [[signed(2), changed, signed(1), changed], true],
  [[signed(1), changed, changed], true],
  [[signed(3), changed, changed, changed], false],
  [[], false],
] as const)("knows whether changes are unsigned: %#", (changes, expected) => {
  expect(hasUnsigned(rowsOf(changes))).toBe(expected);
});
