import { expect, it } from "vitest";
import { aSet } from "../../../../test/rig/records/a-set.ts";
import { wholeAccount } from "../../../core/may.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { plainSettings, type Zone } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { type ImportFile, importFileRule } from "./import-file.ts";

it("a file is merged into a large zone in steps: none looks at every set of the zone more than once", () => {
  let reads = 0;
  const counted = (i: number): RRset => ({
    ...aSet(`h${i}`, "192.0.2.1"),
    get owner() {
      reads += 1;
      return `h${i}`;
    },
  });
  const sets = Array.from({ length: 5_000 }, (_, i) => counted(i));
  const zone = { name: "a.example", account: 1, serial: 1, settings: plainSettings(60) } as Zone;
  const actor = { account: 1, label: "test", scope: wholeAccount };
  const file = { sets: [], marks: {} } as unknown as ImportFile["file"];
  const manner = { kind: "rrsets", merge: true } as ImportFile["manner"];
  const command = { kind: "import-file", actor, at: {}, manner, file, now: 1 } as unknown as ImportFile;
  const steps = importFileRule(command).decide({ zone, sets } as unknown as WriteView) as Generator<void, unknown>;
  let most = 0;
  for (let done = false; !done; reads = 0) {
    done = steps.next().done === true;
    most = Math.max(most, reads);
  }
  expect(most).toBeLessThanOrEqual(sets.length);
});
