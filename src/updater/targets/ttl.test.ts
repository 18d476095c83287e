import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { readConfig } from "../read-config.ts";
import { openStateFile } from "../round/state-file.ts";
import { openUpdater } from "../updater.ts";

/**
 * The TTL in the config is treated like the address: written when it was edited, and corrected when the record was
 * changed.
 */

let loop: Loop;
afterEach(() => loop.close());

const open = async (api: "v1" | "rrsets", fields: string) => {
  loop = await openLoop(`  - { name: home, zone: example.org, ipv4: wan0, ${fields} }`, () => 0, { api });
  expect(await loop.round()).toEqual(["done"]);
};

/** A round under a config in which `from` was replaced by `to`, as after a restart. */
async function roundAfterEdit(from: string, to: string): Promise<string | undefined> {
  const file = join(loop.folder, "moor.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  const read = readConfig("moor.yaml", {}, loop.folder);
  const opened = await openStateFile(loop.config.stateFile, loop.clock.now, { write: true });
  if (!read.ok || opened.kind !== "open") throw new Error("the config or the state is no good");
  const updater = await openUpdater(read.value, { state: opened.state, now: () => loop.clock.now, random: () => 0 });
  const { results } = await updater.round(new AbortController().signal);
  updater.close();
  return results[0]?.outcome?.kind ?? results[0]?.plan.kind;
}

const record = () => loop.records.find(({ name, type }) => name === "home" && type === "A");

describe.each(["v1", "rrsets"] as const)("the TTL of a record at %s", (api) => {
  it("is written when it was edited in the config, once", async () => {
    await open(api, "ttl: 60");
    expect(record()).toMatchObject({ value: "9.9.9.9", ttl: 60 });
    expect(await roundAfterEdit("ttl: 60", "ttl: 300")).toBe("done");
    expect(record()).toMatchObject({ value: "9.9.9.9", ttl: 300 });
    const { length } = loop.service.asked;
    expect(await roundAfterEdit("ttl: 300", "ttl: 300")).toBe("nothing");
    expect(loop.service.asked.length).toBe(length);
  });

  it("is written when it was added to the config, and left alone when it was removed", async () => {
    await open(api, "create: false");
    expect(record()).toMatchObject({ ttl: 77 });
    expect(await roundAfterEdit("create: false", "ttl: 300")).toBe("done");
    expect(record()).toMatchObject({ ttl: 300 });
    expect(await roundAfterEdit("ttl: 300", "create: false")).toBe("nothing");
  });

  it("is read and not written when the state of an earlier version does not have it", async () => {
    await open(api, "ttl: 60");
    const state = JSON.parse(readFileSync(loop.config.stateFile, "utf8")) as {
      entries: Record<string, { ttl?: number }>;
    };
    for (const entry of Object.values(state.entries)) delete entry.ttl;
    writeFileSync(loop.config.stateFile, JSON.stringify(state));
    const { length } = loop.writes();
    expect(await roundAfterEdit("", "")).toBe("same");
    expect(await roundAfterEdit("", "")).toBe("nothing");
    expect(loop.writes().length).toBe(length);
  });

  it.each(["verify: 1h", "compare: record"])("is corrected when it was changed elsewhere (%s)", async (rule) => {
    await open(api, `ttl: 60, ${rule}`);
    Object.assign(record() ?? {}, { ttl: 5 });
    loop.clock.now += 3_600_000;
    expect(await loop.round()).toEqual(["done"]);
    expect(record()).toMatchObject({ value: "9.9.9.9", ttl: 60 });
    loop.clock.now += 3_600_000;
    expect(await loop.round()).toEqual(["nothing"]);
  });

  it("is left alone if the config has none", async () => {
    await open(api, "compare: record");
    Object.assign(record() ?? {}, { ttl: 5 });
    expect(await loop.round()).toEqual(["nothing"]);
  });

  it("is not sent repeatedly to a service that changes it", async () => {
    await open(api, "ttl: 60, compare: record");
    loop.says.service = () => {
      // It does not support a TTL below 120.
      queueMicrotask(() => Object.assign(record() ?? {}, { ttl: Math.max(120, record()?.ttl ?? 0) }));
      return undefined;
    };
    Object.assign(record() ?? {}, { ttl: 120 });
    expect(await loop.round()).toEqual(["done"]);
    const { length } = loop.writes();
    expect([await loop.round(), await loop.round()]).toEqual([["nothing"], ["nothing"]]);
    expect(loop.writes().length).toBe(length);
  });
});
