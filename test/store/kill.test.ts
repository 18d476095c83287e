import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { until } from "../rig/until.ts";
import { faultsIn, logIn, prepareData, valuesIn } from "./store-files.ts";
import {
  allowed,
  type Imports,
  importedOwner,
  importedRecords,
  runMoor,
  type Sent,
  type Storm,
  startImports,
  startService,
  startStorm,
} from "./storm.ts";

/** `npm run test:faults` sets more. */
const kills = Number(process.env.MOOR_KILLS ?? 1);
vi.setConfig({ testTimeout: testLimit + kills * 10_000 });

let folder: string;
let data: string;
let token: string;
const zone = "storm.example";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-kill-"));
  data = join(folder, "data");
  token = await prepareData(data, zone);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A minimum number of writes, however slow the machine is. */
const answered = ({ sent }: Storm, count: number) =>
  until(() => sent.filter(({ status = 500 }) => status < 300).length >= count, {
    what: () => `${count} writes to be answered`,
  });

describe("kill -9 under heavy writes", () => {
  const all: Sent[] = [];

  it(`loses no answered write and leaves nothing unfinished, ${kills} times at random moments`, async () => {
    for (let round = 0; round < kills; round += 1) {
      const service = await startService(data);
      const storm = startStorm(service, token, zone, round);
      const imports = startImports(service, token, round);
      await answered(storm, 10);
      await until(() => imports.answered() > 0, { what: () => "two imports to be answered" });
      await realPause(Math.random() * 400, "a random moment");
      await service.process.stop("SIGKILL");
      await Promise.all([storm.stop(), imports.stop()]);
      all.push(...storm.sent);
      expect(await faultsIn(recordsDatabase(data)), `round ${round}`).toEqual([]);
      await expectKept(storm.sent);
      await expectWhole(imports, round);
    }
    await expectKept(all);
    expect(all.filter(({ status }) => status !== undefined && status >= 300)).toEqual([]);
  });

  it("a backup taken meanwhile is an earlier state of the log, and can be restored, but not over a store in use", async () => {
    const service = await startService(data);
    const storm = startStorm(service, token, zone, kills);
    await answered(storm, 10);
    const file = join(folder, "backup.sqlite");
    const { code, out, err } = await runMoor("store", "backup", file, "--data", data);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/up to change \d+; checked/);
    await answered(storm, storm.sent.length);
    const over = await runMoor("store", "restore", file, "--data", data, "--move-aside");
    expect(over).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is in use by a running service.*stop it first/),
    });
    expect(service.process.child.exitCode).toBeNull();
    await service.process.stop("SIGKILL");
    await storm.stop();

    const restored = join(folder, "restored");
    expect((await runMoor("store", "restore", file, "--data", restored)).code).toBe(0);
    expect(await faultsIn(recordsDatabase(restored))).toEqual([]);
    // A state that passed the check agrees with its own log, so it is enough that this log is the beginning of the
    // other.
    const [before, after] = [await logIn(recordsDatabase(restored)), await logIn(recordsDatabase(data))];
    expect(before.length).toBeGreaterThan(0);
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.slice(0, before.length)).toEqual(before);
  });
});

/** The zone is as the last answered import left it, or as the one after that. */
async function expectWhole(imports: Imports, round: number): Promise<void> {
  const values = await valuesIn(recordsDatabase(data));
  const found = Array.from({ length: importedRecords }, (_, i) => values.get(importedOwner(round, i))?.split(".")[1]);
  const last = imports.answered();
  expect([[`${last % 256}`], [`${(last + 1) % 256}`]]).toContainEqual([...new Set(found)]);
}

async function expectKept(sent: readonly Sent[]): Promise<void> {
  const values = await valuesIn(recordsDatabase(data));
  const lost = [...allowed(sent)].filter(([owner, may]) => !may.has(values.get(owner)));
  expect(lost.map(([owner, may]) => ({ owner, may: [...may], is: values.get(owner) }))).toEqual([]);
}
