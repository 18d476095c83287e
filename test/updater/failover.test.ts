import { describe, expect, it } from "vitest";
import { families, recordTypeOf } from "../../src/core/addresses/address.ts";
import { sourceKinds } from "../../src/updater/sources/sources.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import type { SourceRig, StartRig } from "../rig/updater/source-suite.ts";
import { startCommand } from "../rig/updater/sources/command.ts";
import { sourceRigs } from "../rig/updater/sources/rigs.ts";
import { after, before, moved } from "./hostile-row.ts";
import { startWatcher } from "./watcher.ts";

const publishedIn = ({ records }: Loop) =>
  Object.fromEntries(records.filter(({ name }) => name === "home").map(({ type, value }) => [type, value]));

/** `home` is a source of the kind, `spare` a firewall with other addresses. */
async function openBoth(start: StartRig, name: string, settings = "") {
  const started: SourceRig[] = [];
  const entry = async (folder: string) => {
    started.push(await start(folder));
    return started[0]?.entry("60s") ?? "";
  };
  const loop = await openLoop(`  - { name: home, zone: example.org, ${name} }`, () => 0, {
    entry,
    settings,
    spare: true,
  });
  const [rig] = started;
  if (!rig) throw new Error("no rig");
  loop.says.firewall = moved;
  const roundAfter = async (seconds: number) => {
    loop.clock.now += seconds * 1_000;
    return [await loop.round(), publishedIn(loop)];
  };
  const close = async () => {
    loop.updater.close();
    await rig.close();
    await loop.close();
  };
  return { loop, rig, roundAfter, close };
}

describe.each(Object.entries(sourceRigs))("a name with two sources, the first of kind %s", (kind, start) => {
  it("uses the second while the first cannot be read for a minute, and then the first again", async () => {
    const known = sourceKinds[kind]?.families ?? families;
    const both = await openBoth(start, `source: [home, spare], ${known.map((family) => `${family}: wan0`).join(", ")}`);
    const all = (summary: string, addresses: Readonly<Record<"A" | "AAAA", string>>) => {
      const published = known.map(recordTypeOf).map((type) => [type, addresses[type]]);
      return [known.map(() => summary), expect.objectContaining(Object.fromEntries(published))];
    };
    try {
      await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
      expect(await both.roundAfter(0)).toEqual(all("done", before));
      await both.rig.faults[0]?.begin();
      expect(await both.roundAfter(600)).toEqual(all("waiting", before));
      expect(await both.roundAfter(59)).toEqual(all("waiting", before));
      expect(await both.roundAfter(2)).toEqual(all("done", after));
      await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
      expect(await both.roundAfter(600)).toEqual(all("done", before));
    } finally {
      await both.close();
    }
  });
});

describe("a name with two sources", () => {
  it("does not use the second if the first recovers within a minute, and uses it sooner with a shorter holdDown", async () => {
    const both = await openBoth(startCommand, "source: [home, spare], ipv4: wan0, ipv6: wan0");
    const quick = await openBoth(startCommand, "source: [home, spare], ipv4: wan0, ipv6: wan0, holdDown: 1s");
    try {
      for (const { rig, roundAfter } of [both, quick]) {
        await rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
        await roundAfter(0);
        await rig.faults[0]?.begin();
        await roundAfter(40);
      }
      await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
      expect(await both.roundAfter(40)).toEqual([["nothing", "nothing"], before]);
      expect(await quick.roundAfter(2)).toEqual([["done", "done"], after]);
    } finally {
      await Promise.all([both.close(), quick.close()]);
    }
  });

  it("is moved by a running updater, and back", async () => {
    const settings = "interval: 1s\nholdDown: 1s";
    const both = await openBoth(startCommand, "source: [home, spare], ipv4: wan0, ipv6: wan0", settings);
    await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
    const watcher = await startWatcher(both.loop);
    try {
      const holds = (wanted: object) =>
        until(() => JSON.stringify(publishedIn(both.loop)) === JSON.stringify(wanted), {
          what: () => `${JSON.stringify(wanted)}; ${JSON.stringify(watcher.lines)}`,
        });
      await holds(before);
      await both.rig.faults[0]?.begin();
      await holds(after);
      await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
      await holds(before);
      expect(watcher.lines.map(({ because }) => because)).toContainEqual(
        "it is the address of wan0 of spare (home cannot be read); the stored address was 9.9.9.9",
      );
    } finally {
      await watcher.stop();
      await both.close();
    }
  });

  it("that must agree is updated only when both report the same", async () => {
    const both = await openBoth(startCommand, "source: { agree: [home, spare] }, ipv4: wan0, ipv6: wan0");
    try {
      await both.rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
      const [kinds, { A }] = (await both.roundAfter(0)) as [string[], { A: string }];
      expect([kinds, A]).toEqual([["failed", "failed"], "192.0.2.1"]);
      await both.rig.say({ ipv4: [after.A], ipv6: [before.AAAA] });
      expect(await both.roundAfter(60)).toEqual([["done", "failed"], { A: after.A, AAAA: "2001:db8::1" }]);
      await both.rig.say({ ipv4: [after.A], ipv6: [after.AAAA] });
      expect(await both.roundAfter(60)).toEqual([["nothing", "done"], after]);
    } finally {
      await both.close();
    }
  });
});
