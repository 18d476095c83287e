import { afterEach, describe, expect, it } from "vitest";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";

let loop: Loop;
afterEach(() => loop.close());

const say = (host: number) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([`9.9.9.${host}`], [`2a00::${host}`]) } });
};
const pass = (ms: number) => {
  loop.clock.now += ms;
};
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => `  - { name: n${n}, zone: example.org, ipv4: wan0 }`).join("\n");
const fill = (count: number) => {
  for (let n = 0; n < count; n++)
    loop.records.push({ id: `n${n}`, type: "A", name: `n${n}`, value: "", zone_id: "z1" });
};

describe("an address that comes and goes", () => {
  it("is not written before it has been present for a while", async () => {
    loop = await openLoop(undefined, undefined, { settings: "holdDown: 10s" });
    say(1);
    expect(await loop.round()).toEqual(["done", "done"]);
    for (let n = 0; n < 20; n++) {
      say(2 + (n % 2));
      expect(await loop.round()).toEqual(["waiting", "waiting"]);
      pass(9_999);
    }
    expect(loop.writes().length).toBe(2);
    say(4);
    await loop.round();
    pass(10_000);
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(loop.stored()).toEqual({ A: "9.9.9.4", AAAA: "2a00::4" });
  });

  it("is written only a few times per hour, and the last one is not lost", async () => {
    loop = await openLoop(undefined, undefined, { settings: "changesPerHour: 4" });
    for (let n = 1; n <= 30; n++) {
      say(n);
      await loop.round();
      pass(60_000);
    }
    expect(loop.writes().length).toBe(8);
    pass(3_600_000);
    expect(await loop.round()).toEqual(["done", "done"]);
    expect(loop.stored()).toEqual({ A: "9.9.9.30", AAAA: "2a00::30" });
  });
});

describe("an edit by someone else", () => {
  const edit = (value: string) => Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value });
  const held = () => loop.records.find(({ id }) => id === "r4")?.value;

  it("is ignored by default: the state file decides", async () => {
    loop = await openLoop();
    await loop.round();
    edit("192.0.2.66");
    pass(24 * 3_600_000);
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    expect(held()).toBe("192.0.2.66");
  });

  it("is corrected when verify is due", async () => {
    loop = await openLoop(undefined, undefined, { settings: "verify: 1h" });
    await loop.round();
    edit("192.0.2.66");
    pass(3_599_000);
    const before = loop.service.asked.length;
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    expect(loop.service.asked.length).toBe(before);
    pass(1_000);
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(held()).toBe("9.9.9.9");
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
  });

  it("is corrected immediately with compare: record, and a correct record is not written", async () => {
    loop = await openLoop(undefined, undefined, { settings: "compare: record" });
    edit("9.9.9.9");
    expect(await loop.round()).toEqual(["nothing", "done"]);
    expect(loop.stored()).toEqual({ A: "9.9.9.9", AAAA: "2a00::9" });
    edit("192.0.2.66");
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(loop.writes().length).toBe(2);
  });
});

describe("many names at one service", () => {
  it("are written four at a time", async () => {
    loop = await openLoop(many(40));
    fill(40);
    // The service answers when four wait together.
    const waiting: (() => void)[] = [];
    let most = 0;
    loop.says.held = ({ method }) =>
      new Promise((resolve) => {
        if (method !== "PUT") return resolve();
        most = Math.max(most, waiting.push(resolve));
        if (waiting.length === 4)
          setImmediate(() => {
            for (const answer of waiting.splice(0)) answer();
          });
      });
    expect((await loop.round()).every((kind) => kind === "done")).toBe(true);
    expect(most).toBe(4);
  });

  it("share one budget: when the quota is nearly used up, all wait", async () => {
    loop = await openLoop(many(40));
    fill(40);
    let left = 30;
    loop.says.service = () => {
      left -= 1;
      return left > 0 ? undefined : { status: 429, body: {}, headers: quota(0) };
    };
    const kinds = await loop.round();
    expect(kinds.filter((kind) => kind === "failed").length).toBeLessThanOrEqual(4);
    expect(kinds.filter((kind) => kind === "waiting").length).toBeGreaterThan(20);
    const before = loop.service.asked.length;
    expect((await loop.round()).includes("waiting")).toBe(true);
    expect(loop.service.asked.length).toBe(before);
    left = 10_000;
    pass(61_000);
    // After a 429 one name tries first; the others follow when it has succeeded.
    await loop.round();
    expect((await loop.round()).filter((kind) => kind === "failed" || kind === "waiting")).toEqual([]);
  });

  const quota = (remaining: number) => ({
    ...{ "ratelimit-limit": "300", "ratelimit-remaining": String(remaining), "ratelimit-reset": "60" },
  });
});
