import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Rule } from "../rig/gate.ts";
import { rowsOf } from "../rig/long-run.ts";
import { prepareWithMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { startService } from "../rig/services.ts";
import { until } from "../rig/until.ts";
import { accepted, type Harbour, openHarbour, type WatchedName, watchName } from "../rig/watched-name.ts";

// Most of the time is spent waiting for retries of the updater, so all tests run in parallel.
vi.setConfig({ maxConcurrency: 16, testTimeout: 3 * testLimit });

let inside: Namespace;
let folder: string;
let harbour: Harbour;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-records-"));
  inside = await openNamespace();
  harbour = await openHarbour(inside, folder);
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Extract<Rule, { kind: "answer" }> => ({
  ...{ kind: "answer", only: "PUT", status, headers },
  body: JSON.stringify(body),
});

/** Services that a test can stop: no second process may use the data of a running one. */
function openOwnHarbour(): Promise<Harbour> {
  const ownFolder = join(folder, "own");
  mkdirSync(ownFolder);
  return openHarbour(inside, ownFolder, { records: 9053, firewall: 9443 });
}

/**
 * What a record service answers to a write, and what the updater reports. `test/updater/hostile-services.ts` has them
 * all.
 */
const scripted: [string, Rule, RegExp][] = [
  ["401", put(401, { message: "Invalid authentication credentials" }), /denied access \(401: Invalid/],
  ["403", put(403, { message: "Forbidden" }), /denied access \(403: Forbidden\)/],
  ["404", put(404, { error: { message: "record not found", code: 404 } }), /there is no record home\.\S+ A/],
  ["422", put(422, { error: { message: "invalid A record", code: 422 } }), /refused: 422: invalid A record/],
  ["500", put(500, { message: "oops" }), /the record service answered 500: oops/],
  ["a web page", { kind: "answer", status: 502, body: "<html>", type: "text/html" }, /the record service answered 502/],
];

describe.concurrent("a record service that refuses a write: only correct writes are sent, and the next successful round recovers", () => {
  const rows = rowsOf(scripted, "404", "a web page");
  test.each(rows.map((row, index) => [...row, index + 1] as const))("%s", async (_, rule, reason, number) => {
    const it = await watchName(harbour, number);
    await it.records.obey(rule);
    await it.move(it.second);
    await it.updater.says(reason);
    await realPause(1_200, "nothing is sent in the next round");
    expect(it.home.stored()).toEqual(it.first);
    expect(await it.published()).toEqual(it.first);
    await it.records.obey({ kind: "pass" });
    await expectRecovery(it);
  });
});

describe.concurrent("a record service that changes", () => {
  test("it is stopped and restarted", async () => {
    const own = await openOwnHarbour();
    const { data, records } = own.services;
    const it = await watchName(own, 21, { records: records.url });
    expect(await records.process.stop()).toMatchObject({ code: 0 });
    await it.move(it.second);
    await it.updater.says(/nothing is listening at 127\.0\.0\.1:9053/);
    expect(it.home.stored()).toEqual(it.first);
    await startService(inside, "records", data, "127.0.0.1:9053");
    await it.stores(it.second);
    expect(await it.published()).toEqual(it.second);
    // Logged at the end of the round, after the state was written.
    for (const address of Object.values(it.second)) await it.updater.says(new RegExp(`record replaced by ${address}`));
    expect(it.updater.err().match(/record replaced by \S+/g)?.length).toBe(4);
    expect(await it.updater.stop()).toMatchObject({ code: 0 });
  });

  test("the record is deleted, and created again with another id", async () => {
    const it = await watchName(harbour, 22);
    expect((await harbour.api.ask("DELETE", `/records/${it.recordIds.A}`)).status).toBe(200);
    await it.move(it.second);
    await it.updater.says(/there is no record home\.zone22\.example A/);
    await it.updater.says(/record replaced by 2a00:22::2/);
    await realPause(1_200, "nothing is sent in the next round");
    expect(await it.published()).toEqual({ AAAA: it.second.AAAA });
    await harbour.api.makeRecord({ zone_id: it.zoneId, name: "home", type: "A", value: "192.0.2.1" });
    await it.stores(it.second);
    const [a, aaaa] = accepted(it.second);
    expect(await it.records.writes()).toEqual([...accepted(it.first), aaaa, a]);
    expect(await it.published()).toEqual(it.second);
  });

  test("the token is revoked: nothing is written until the updater has a valid one", async () => {
    const { data } = harbour.services;
    const tokenFile = join(folder, "own-token");
    const { err } = await prepareWithMoor(inside, ["token", "add", "--new", "--data", data, "--to", tokenFile]);
    const it = await watchName(harbour, 23, { tokenFile });
    await prepareWithMoor(inside, ["token", "revoke", /^Token (\d+)/.exec(err)?.[1] ?? "", "--data", data]);
    await it.move(it.second);
    await it.updater.says(/denied access \(401/);
    await realPause(1_200, "nothing is sent in the next round");
    expect(await it.records.writes()).toEqual(accepted(it.first));
    await it.updater.stop();
    await prepareWithMoor(inside, ["token", "add", "--new", "--data", data, "--to", tokenFile]);
    it.restart();
    await expectRecovery(it);
  });

  test.each([
    ["while it runs", 24, false],
    ["also after a restart", 25, true],
  ])("429 with Retry-After: no request before that time, %s", async (_, number, restarts) => {
    const it = await watchName(harbour, number);
    await it.records.obey({ ...put(429, { message: "slow down" }, { "retry-after": "4" }), once: true });
    await it.move(it.second);
    await it.updater.says(/the record service answered 429: slow down/);
    if (restarts) {
      await it.updater.stop();
      it.restart();
    }
    await it.stores(it.second);
    const asked = await it.records.asked();
    const refused = asked.findIndex(({ status }) => status === 429);
    expect((asked[refused + 1]?.at ?? 0) - (asked[refused]?.at ?? 0)).toBeGreaterThanOrEqual(4_000);
    expect((await it.records.writes()).filter(({ status }) => status === 429)).toHaveLength(1);
    await expectRecovery(it);
  });
});

/** One extra write of the same value is allowed: only the service knows whether the first one was done. */
describe.concurrent("kill -9 between the write and the state", () => {
  test("before the answer arrived: only the same write is repeated", async () => {
    const it = await watchName(harbour, 31);
    await it.records.obey({ kind: "hold" });
    await it.move(it.second);
    await until(async () => (await it.published()).A === it.second.A, {
      ...{ every: 100, what: () => "the write that gets no answer" },
    });
    await it.updater.stop("SIGKILL");
    await it.records.obey({ kind: "pass" });
    expect(it.home.stored()).toEqual(it.first);
    it.restart();
    await it.stores(it.second);
    const [a, aaaa] = accepted(it.second);
    expect(await it.records.writes()).toEqual([...accepted(it.first), a, a, aaaa]);
    expect(await it.published()).toEqual(it.second);
  });

  test("while the state cannot be written: it is logged, and the write is repeated once after a restart", async () => {
    const it = await watchName(harbour, 32);
    const written = readFileSync(it.home.stateFile, "utf8");
    rmSync(it.home.stateFile);
    mkdirSync(it.home.stateFile);
    await it.move(it.second);
    await it.updater.says(/the state file cannot be written/);
    await it.updater.says(/replaced by 2a00:32::2/);
    await realPause(2_200, "nothing is sent in the next two rounds");
    expect(await it.records.writes()).toEqual([...accepted(it.first), ...accepted(it.second)]);
    await it.updater.stop("SIGKILL");
    rmSync(it.home.stateFile, { recursive: true });
    writeFileSync(it.home.stateFile, written);
    it.restart();
    await it.stores(it.second);
    expect(await it.records.writes()).toEqual([...accepted(it.first), ...accepted(it.second), ...accepted(it.second)]);
    expect(await it.published()).toEqual(it.second);
  });
});

/** Each refused write was correct too, and exactly one per change was accepted. */
async function expectRecovery(it: WatchedName): Promise<void> {
  await it.stores(it.second);
  expect(await it.published()).toEqual(it.second);
  const [first4, first6, ...later] = await it.records.writes();
  expect([first4, first6]).toEqual(accepted(it.first));
  for (const { value, type } of later) expect(value).toBe(type === "A" ? it.second.A : it.second.AAAA);
  // Each family has its own back-off, so either may be retried first.
  const taken = later.filter(({ status }) => status === 200).map(({ value }) => value);
  expect(taken.toSorted()).toEqual([it.second.A, it.second.AAAA].toSorted());
  expect(await it.updater.stop()).toMatchObject({ code: 0 });
}
