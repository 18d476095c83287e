import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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
import { accepted, type Harbour, openHarbour, type WatchedName, watchName } from "../rig/watched-name.ts";

// Most of the time is spent waiting for retries of the updater, so all tests run in parallel.
vi.setConfig({ maxConcurrency: 12, testTimeout: 3 * testLimit });

let inside: Namespace;
let folder: string;
let harbour: Harbour;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-firewall-"));
  inside = await openNamespace();
  harbour = await openHarbour(inside, folder);
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * What a firewall answers instead of its interfaces, and what the updater reports. `test/updater/hostile-firewalls.ts`
 * has them all.
 */
const scripted: [string, Omit<Extract<Rule, { kind: "answer" }>, "kind">, RegExp][] = [
  ["401", { status: 401, body: '{"status":401,"message":"Authentication Failed"}' }, /rejected the key.*\(401\)/],
  ["403", { status: 403, body: '{"status":403,"message":"Forbidden"}' }, /may not read the interfaces \(403\)/],
  ["500", { status: 500, body: '{"errorMessage":"Unexpected error"}' }, /the firewall answered 500/],
  ["a web page", { status: 200, body: "<!doctype html><p>Login", type: "text/html" }, /a web page instead of data/],
  ["an empty body", { status: 200, body: "", type: "text/html" }, /200 with an empty body/],
  ["[]", { status: 200, body: "[]" }, /has no interface w\d+.*it reports no interfaces/],
  ["half its answer", { status: 200, body: '{"w1":{"ipv4":[{"ipad' }, /not JSON, or was cut off/],
];

describe.concurrent("a firewall with a wrong answer: no request to the record service, and the next successful round recovers", () => {
  const rows = rowsOf(scripted, "500", "[]");
  test.each(rows.map((row, index) => [...row, index + 1] as const))("%s", async (_, answer, reason, number) => {
    const it = await watchName(harbour, number);
    await it.firewall.obey({ kind: "answer", ...answer });
    await it.move(it.second);
    await expectNothingSent(it, reason);
    await it.firewall.obey({ kind: "pass" });
    await expectRecovery(it);
  });
});

describe.concurrent("a firewall that changes", () => {
  test("it is stopped and restarted", async () => {
    // No second process may use the data of a running one.
    const ownFolder = join(folder, "own");
    mkdirSync(ownFolder);
    const own = await openHarbour(inside, ownFolder, { records: 9053, firewall: 9443 });
    const { data, firewall } = own.services;
    const it = await watchName(own, 21, { firewall: firewall.url });
    expect(await firewall.process.stop()).toMatchObject({ code: 0 });
    await it.move(it.second);
    await expectNothingSent(it, /nothing is listening at 127\.0\.0\.1:9443/);
    await startService(inside, "firewall", data, "127.0.0.1:9443");
    await expectRecovery(it);
  });

  test("the key is revoked: nothing is written until the updater has a valid one", async () => {
    const { data } = harbour.services;
    const keyFile = join(folder, "own-key");
    const addKey = () => prepareWithMoor(inside, ["key", "add", "--new", "--data", data, "--to", keyFile]);
    await addKey();
    const it = await watchName(harbour, 24, { keyFile });
    const key = /^key=(.*)$/m.exec(readFileSync(keyFile, "utf8"))?.[1] ?? "";
    await prepareWithMoor(inside, ["key", "revoke", key, "--data", data]);
    await it.move(it.second);
    await expectNothingSent(it, /rejected the key.*\(401\)/);
    await it.updater.stop();
    rmSync(keyFile);
    await addKey();
    it.restart();
    await expectRecovery(it);
  });

  test("the interface disappears, and returns with other addresses", async () => {
    const it = await watchName(harbour, 22);
    await it.device.remove();
    await expectNothingSent(it, /has no interface w22.*its interfaces are lo/);
    await it.device.restore();
    await it.move(it.second);
    await expectRecovery(it);
  });

  test("the interface has only a link-local address: the other family is still updated", async () => {
    const it = await watchName(harbour, 23);
    await it.device.readdress({ ipv4: it.second.A });
    await it.updater.says(/record replaced by 9\.9\.23\.2/);
    await it.updater.says(/w23 has no usable address: fe80::\S+ is link-local/);
    const mixed = { A: it.second.A, AAAA: it.first.AAAA };
    await it.stores(mixed);
    await realPause(1_200, "nothing is sent in the next round");
    expect(await it.records.writes()).toEqual([...accepted(it.first), accepted(it.second)[0]]);
    expect(await it.published()).toEqual(mixed);
    await it.move(it.second);
    await expectRecovery(it);
  });
});

/**
 * During the fault: it is reported at most once per record, the record service gets no request, and no stored address
 * is lost.
 */
async function expectNothingSent(it: WatchedName, reason: RegExp): Promise<void> {
  await it.updater.says(reason);
  await realPause(1_200, "nothing is sent in the next round");
  expect((await it.records.asked()).length).toBe(it.askedAtFirst);
  expect(await it.published()).toEqual(it.first);
  expect(it.home.stored()).toEqual(it.first);
}

async function expectRecovery(it: WatchedName): Promise<void> {
  await it.stores(it.second);
  expect(await it.published()).toEqual(it.second);
  expect(await it.records.writes()).toEqual([...accepted(it.first), ...accepted(it.second)]);
  expect(await it.updater.stop()).toMatchObject({ code: 0 });
}
