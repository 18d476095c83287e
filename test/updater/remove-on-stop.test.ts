import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { startWatcher } from "./watcher.ts";

/** Two names of which one is to be removed when the updater is stopped. */

let loop: Loop;
beforeEach(async () => {
  const names = `  - { name: home, zone: example.org, ipv4: wan0, create: true, removeOnStop: true }
  - { name: other, zone: example.org, ipv4: wan0, create: true }`;
  loop = await openLoop(names, () => 0, { api: "rrsets" });
  loop.says.service = ({ method, path }) => {
    const [name, type] = path.split("/").slice(-2);
    const at = loop.records.findIndex((record) => record.name === name && record.type === type);
    if (method !== "DELETE" || at < 0) return undefined;
    loop.records.splice(at, 1);
    return { status: 201, body: { action: { id: 1, status: "success" } } };
  };
});
afterEach(() => loop.close());

const held = () => loop.records.filter(({ type }) => type === "A").map(({ name, value }) => `${name} ${value}`);

async function watchUntil(wanted: readonly string[], then: () => void = () => undefined) {
  const watcher = await startWatcher(loop);
  await until(() => wanted.every((line) => held().includes(line)), { what: () => JSON.stringify(watcher.lines) });
  await until(() => loop.stored().A === "9.9.9.9");
  then();
  await watcher.stop();
  return watcher.lines.filter(({ msg }) => /^record (not )?removed/.test(msg));
}
const both = ["home 9.9.9.9", "other 9.9.9.9"];

it("removes the record, and only that one, and the next start creates it again", async () => {
  const lines = await watchUntil(both);
  expect(lines).toMatchObject([{ level: "info", name: "home.example.org A", msg: "record removed" }]);
  expect(held()).toEqual(["other 9.9.9.9"]);
  await watchUntil(both);
  expect(held()).toEqual(["other 9.9.9.9"]);
});

it("leaves a record that someone else changed", async () => {
  const lines = await watchUntil(both, () => {
    for (const record of loop.records) if (record.name === "home" && record.type === "A") record.value = "192.0.2.7";
  });
  expect(lines).toMatchObject([{ msg: "record not removed", because: "it holds 192.0.2.7" }]);
  expect(held().toSorted()).toEqual(["home 192.0.2.7", "other 9.9.9.9"]);
});

it("says so if the service refuses", async () => {
  const before = loop.says.service;
  loop.says.service = (asked) =>
    asked.method === "DELETE"
      ? { status: 403, body: { error: { code: "forbidden", message: "no", details: null } } }
      : before(asked);
  expect(await watchUntil(both)).toMatchObject([
    { level: "warn", msg: "record not removed", because: expect.stringContaining("403") },
  ]);
  expect(held().toSorted()).toEqual(both);
  // The record is known to be right, so the next start writes nothing.
  const writes = loop.writes().length;
  await loop.reopen();
  expect(await loop.round()).toEqual(["nothing", "nothing"]);
  expect(loop.writes()).toHaveLength(writes);
});
