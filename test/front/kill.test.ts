import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { firstOf } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { until } from "../rig/until.ts";
import { faultsIn, prepareData } from "../store/store-files.ts";
import { type Service, startService, startStorm } from "../store/storm.ts";
import { type Json, linesOf, Moor } from "./two-moors.ts";

/** `npm run test:faults` sets more. */
const kills = Number(process.env.MOOR_KILLS ?? 1);
vi.setConfig({ testTimeout: testLimit + kills * 10_000 });

const zone = "storm.example";
let folder: string;
let there: Moor;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-front-kill-"));
  there = await Moor.start();
});
afterAll(async () => {
  await there.service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Each kind of provider passes the suite of all; which one it is makes no difference to the publisher. */
describe.each(firstOf(["hetzner", "moor"]))("kill -9 of a moor that publishes at a second one, as %s", (kind) => {
  it(`ends in equal sets, ${kills} times at random moments`, async () => {
    const data = join(folder, kind);
    const token = await prepareData(data, zone);
    await there.call("DELETE", `/zones/${zone}`);
    await there.ok("POST", "/zones", { name: zone, mode: "primary" });
    let service = await startService(data);
    const front = () => new Client(service, token);
    await front().ok("POST", "/providers", { name: kind, kind, url: there.service.url, token: there.token });
    const { preview } = await front().ok("GET", `/zones/${zone}/publication/preview?provider=${kind}`);
    await front().ok("POST", `/zones/${zone}/actions/publish`, {
      provider: kind,
      digest: preview.digest,
      fill: "theirs",
    });
    for (let round = 0; round < kills; round += 1) {
      const storm = startStorm(service, token, zone, round, 2);
      await until(async () => (await there.lines(zone)).some((line) => line.startsWith(`r${round}`)), {
        what: () => "a set of this round at the provider",
      });
      await realPause(Math.random() * 300, "a random moment");
      await service.process.stop("SIGKILL");
      await storm.stop();
      expect(await faultsIn(recordsDatabase(data))).toEqual([]);
      service = await startService(data);
    }
    const counts = async () => (await front().ok("GET", `/zones/${zone}/publication`)).publication.counts;
    await until(async () => (await counts()).waiting === 0, { what: () => "everything to be published" });
    expect(await counts()).toMatchObject({ refused: 0, drifted: 0 });
    expect(await there.lines(zone)).toEqual(await front().lines());
    const running = async () => (await front().ok("GET", `/zones/${zone}/actions?status=running`)).actions;
    await until(async () => (await running()).length === 0, { what: () => "all actions to end" });
    await service.process.stop();
  });
});

class Client {
  readonly #url: string;
  readonly #token: string;

  constructor({ url }: Service, token: string) {
    [this.#url, this.#token] = [url, token];
  }

  async ok(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await fetch(`${this.#url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  async lines(): Promise<readonly string[]> {
    return await linesOf((page) => this.ok("GET", `/zones/${zone}/rrsets?per_page=100&page=${page}`));
  }
}
