import { afterEach, describe, expect, it } from "vitest";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { startServer, type TestServer, wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "./watcher.ts";

let loop: Loop;
let hook: TestServer;
let watcher: Watcher;
afterEach(async () => {
  await watcher.stop();
  await Promise.all([hook.close(), loop.close()]);
});

const count = 30;
const say = (host: number) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([`9.9.9.${host}`], [`2a00::${host}`]) } });
};
const written = (host: number) =>
  loop.records.filter(({ value }) => [`9.9.9.${host}`, `2a00::${host}`].includes(value)).length;
const notices = () =>
  hook.asked.map(({ body }) => JSON.parse(body) as { event: string; message: string; names?: string });

async function watchMany() {
  hook = await startServer(() => ({ body: {} }));
  const names = Array.from(
    { length: count },
    (_, n) => `  - { name: n${n}, zone: example.org, ipv4: wan0, ipv6: wan0 }`,
  );
  const settings = `interval: 1s\nnotify: [{ kind: webhook, url: "${hook.url}/" }]`;
  loop = await openLoop(names.join("\n"), undefined, { settings });
  for (let n = 0; n < count; n++) {
    const each = { name: `n${n}`, value: "", zone_id: "z1" };
    loop.records.push({ id: `a${n}`, type: "A", ...each }, { id: `q${n}`, type: "AAAA", ...each });
  }
  say(1);
  watcher = await startWatcher(loop, { patience: 1_000 });
  await until(() => written(1) === 2 * count);
}

describe("thirty names on one service", () => {
  it("an outage causes one notice, and its end another", async () => {
    await watchMany();
    await loop.service.pause();
    say(2);
    watcher.check();
    await until(() => notices().length > 0);
    expect(notices()).toMatchObject([{ event: "failing" }]);
    expect(notices()[0]?.names).toMatch(/^n\d+\.example\.org A+, .* and \d+ more$/);
    await loop.service.resume();
    watcher.check();
    await until(() => written(2) === 2 * count && notices().length > 1);
    expect(notices().slice(1)).toMatchObject([
      { event: "over", message: `the problem with ${2 * count} records is over` },
    ]);
  });
});
