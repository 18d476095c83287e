import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLog } from "../../process/log.ts";
import { watchLoads } from "./zone-loads.ts";
import type { ZoneSource } from "./zone-source.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function watch() {
  const begun: { readonly name: string; readonly end: (error?: Error) => void }[] = [];
  const load: ZoneSource["load"] = (name) =>
    new Promise((resolve, reject) => {
      begun.push({ name, end: (error) => (error ? reject(error) : resolve(undefined)) });
    });
  let said = "";
  const log = createLog({
    format: "text",
    write: (line) => {
      said += line;
    },
  });
  const watched = watchLoads({ load } as unknown as ZoneSource, log);
  return { ...watched, begun, names: () => begun.map(({ name }) => name), said: () => said };
}

it("loads a zone once at a time, and others beside it", async () => {
  const { source, begun, names, counts } = watch();
  const loads = ["a.example", "a.example", "b.example", "a.example"].map((name) => source.load(name));
  expect([names(), counts.underway]).toEqual([["a.example", "b.example"], 2]);
  begun[0]?.end();
  await loads[0];
  await vi.waitFor(() => expect(names()).toEqual(["a.example", "b.example", "a.example"]));
  begun[2]?.end();
  await loads[1];
  await vi.waitFor(() => expect(names()).toHaveLength(4));
  begun[1]?.end();
  begun[3]?.end();
  await Promise.all(loads);
  expect(counts).toEqual({ underway: 0, done: 4, failed: 0 });
});

it("logs a load that takes longer than queries wait, and its end", async () => {
  const { source, begun, said } = watch();
  const load = source.load("large.example");
  await vi.advanceTimersByTimeAsync(4_999);
  expect(said()).toBe("");
  await vi.advanceTimersByTimeAsync(60_001);
  expect(said()).toMatch(/the zone takes long to load.*large\.example/);
  begun[0]?.end();
  await load;
  expect(said()).toMatch(/the zone is loaded.*large\.example.*65/);
});

it("a failure names the zone and is counted; the next load begins all the same", async () => {
  const { source, begun, counts } = watch();
  const [first, second] = [source.load("a.example"), source.load("a.example")];
  begun[0]?.end(new Error("disk"));
  await expect(first).rejects.toThrow("the zone a.example could not be loaded: disk");
  begun[1]?.end();
  expect(await second).toBeUndefined();
  expect(counts).toEqual({ underway: 0, done: 1, failed: 1 });
});
