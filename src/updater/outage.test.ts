import { afterEach, describe, expect, it } from "vitest";
import { isLongRun } from "../../test/rig/long-run.ts";
import { type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Reply, wanWith } from "../../test/rig/updater/services.ts";

/** A service that is down gets one probe, not one per name. */

let loop: Loop;
afterEach(() => loop.close());

/** Repeatable, and evenly spread. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

async function openMany(names: number, seed = 7) {
  const entries = Array.from({ length: names }, (_, n) => `  - { name: n${n}, zone: example.org, ipv4: wan0 }`);
  loop = await openLoop(entries.join("\n"), randomFrom(seed));
  for (let n = 0; n < names; n++) {
    loop.records.push({ id: `n${n}`, type: "A", name: `n${n}`, value: "192.0.2.1", zone_id: "z1" });
  }
}

const move = (host: number) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([`9.9.9.${host}`], []) } });
};
const holding = (host: number) => loop.records.filter(({ value }) => value === `9.9.9.${host}`).length;

/** Rounds as often as a watcher would make them; stops early if `isOver`. Returns the seconds that passed. */
async function pass(seconds: number, isOver = () => false): Promise<number> {
  for (let passed = 0; passed < seconds; passed += 0.5) {
    const { due } = await loop.updater.round(new AbortController().signal);
    if (isOver()) return passed;
    // Nothing is sent before.
    const ahead = Math.max(0, Math.floor(((due ?? Number.POSITIVE_INFINITY) - loop.clock.now) / 500)) * 0.5;
    const skipped = Math.min(ahead, seconds - passed - 0.5);
    passed += skipped;
    loop.clock.now += (skipped + 0.5) * 1000;
  }
  return seconds;
}

type Limits = { readonly names: number; readonly requests: number; readonly seconds: number };

const names = isLongRun ? 100 : 40;
const rows: readonly [string, Reply, Limits][] = [
  ["500", { status: 500, body: "oops" }, { names: isLongRun ? 1_000 : 60, requests: 40, seconds: 12 }],
  ["closed connections", { fault: "reset" }, { names, requests: 40, seconds: 12 }],
  ["401", { status: 401, body: { message: "Invalid credentials" } }, { names, requests: 40, seconds: 20 }],
  ["403", { status: 403, body: { message: "Forbidden" } }, { names, requests: 40, seconds: 20 }],
  ["429", { status: 429, body: {} }, { names, requests: 11, seconds: 90 }],
  [
    "429 and Retry-After",
    { status: 429, headers: { "retry-after": "20" }, body: {} },
    { names, requests: 11, seconds: 22 },
  ],
];

it("after an outage, names that fail for a reason of their own do not delay the others", async () => {
  await openMany(20);
  const existing = loop.records.filter(({ name }) => name === "n0");
  loop.records.splice(0, loop.records.length, ...existing);
  loop.says.service = () => ({ status: 500, body: "oops" });
  await pass(60);
  loop.says.service = () => undefined;
  expect(await pass(31, () => holding(9) === 1)).toBeLessThanOrEqual(30);
});

describe("many names at a service that for a minute answers nothing but", () => {
  it.each(rows)("%s: few requests, and all names are written soon after it works again", async (_, reply, limits) => {
    await openMany(limits.names);
    loop.says.service = () => reply;
    await pass(60);
    // Those under way when it began, and the probes.
    expect(loop.service.asked.length).toBeLessThanOrEqual(limits.requests);
    expect(loop.service.asked.length).toBeGreaterThan(1);
    loop.says.service = () => undefined;
    const isOver = () => holding(9) === limits.names;
    expect(await pass(limits.seconds + 1, isOver)).toBeLessThanOrEqual(limits.seconds);
    expect(isOver()).toBe(true);
  });
});

it("names that always fail do not delay the others for long, and nothing at all when those change later", async () => {
  await openMany(40);
  loop.says.service = ({ method, path }) =>
    method === "PUT" && /n([0-9]|1[0-9])$/.test(path) ? { status: 500 } : undefined;
  const isOver = () => holding(9) === 20;
  expect(await pass(60, isOver)).toBeLessThan(60);
  await pass(60);
  for (const host of [10, 11, 12]) {
    move(host);
    await loop.round();
    expect(holding(host)).toBe(20);
    await pass(100);
  }
});

it("long after a service went down, it still gets a request within a minute", async () => {
  const [minutes, most] = isLongRun ? [60, 400] : [15, 150];
  await openMany(10);
  loop.says.service = () => ({ status: 500 });
  await pass(minutes * 60);
  const before = loop.service.asked.length;
  expect(before).toBeLessThan(most);
  loop.says.service = () => undefined;
  expect(await pass(120, () => holding(9) === 10)).toBeLessThanOrEqual(61);
});
