import { expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { noStoredNames } from "../../core/records/dname.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { finish, inSteps } from "../../core/steps.ts";
import { plainSettings, type Zone } from "../model.ts";
import { type ChangeSets, changeSetsRule } from "./set-changes.ts";

const zone = { name: "one.example", serial: 1, settings: plainSettings(60) } as Zone;

/** How often the decision reads the owner of a set, of so many sets and changes. */
function ownersRead(count: number): number {
  let reads = 0;
  const sets = Array.from({ length: count }, (_, i): RRset => {
    const record = { id: `${i}`, name: `h${i}`, value: "192.0.2.1", rdata: "192.0.2.1", comment: "" };
    return {
      get owner() {
        reads += 1;
        return `h${i}`;
      },
      ...({ type: "A", ttl: null, records: [{ ...record, created: 1, modified: 1 }] } as const),
    };
  });
  const changes = sets.map((_, i) => ({
    name: `h${i}`,
    type: "A",
    to: { records: [{ value: "192.0.2.2", comment: "" }] },
  }));
  const command: ChangeSets = {
    kind: "change-sets",
    actor: { account: 1, label: "owner", scope: wholeAccount },
    zone: { number: 1 },
    now: 9,
    parts: count,
    changes,
  };
  reads = 0;
  const decided = finish(inSteps(changeSetsRule(command).decide({ zone, sets, storedNames: noStoredNames })));
  expect(decided.wanted?.map(({ records }) => records[0]?.value)).toEqual(changes.map(() => "192.0.2.2"));
  return reads;
}

it("twice as many changes take twice the work, not four times", () => {
  expect(ownersRead(800)).toBeLessThan(2.2 * ownersRead(400));
});
