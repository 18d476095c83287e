import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { createLog } from "../../process/log.ts";
import { noConfig } from "../config.ts";
import { createReportFeed, type FeedState } from "./feed.ts";
import { takeSnapshot } from "./report.ts";

const nothing = () => undefined;

function machine() {
  const logged: string[] = [];
  const stopping = new AbortController();
  const now = () => performance.now();
  let [mtu, broken, watchers, reads] = [1500, false, 0, 0];
  let tell: (() => void) | undefined;
  const readNow = async () => {
    reads += 1;
    if (broken) throw new Error("netlink is out of order");
    return takeSnapshot([{ ifname: "eth0", flags: ["UP"], mtu, addr_info: [] }], noConfig, now());
  };
  const feed = createReportFeed({
    readRecent: readNow,
    readNow,
    watch: async (onChange, signal) => {
      watchers += 1;
      tell = onChange;
      signal.addEventListener("abort", () => {
        watchers -= 1;
      });
    },
    epoch: "77",
    log: createLog({ format: "json", write: (line) => logged.push(line) }),
    now,
    spacing: 5,
    stopping: stopping.signal,
  });
  return {
    feed,
    logged,
    stopping,
    watchers: () => watchers,
    become: (value: number) => {
      mtu = value;
    },
    break: (value: boolean) => {
      broken = value;
    },
    tell: () => tell?.(),
    /** Reports a change, and waits until the kernel has been read again for it. */
    tellAndRead: async () => {
      const before = reads;
      tell?.();
      await expect.poll(() => reads).toBeGreaterThan(before);
    },
  };
}

describe("createReportFeed", () => {
  it("has the same id while nothing changes, and the next after a change", async () => {
    const { feed, become } = machine();
    expect((await feed.current()).id).toBe("77-1");
    expect((await feed.current()).id).toBe("77-1");
    become(1400);
    expect((await feed.current()).id).toBe("77-2");
  });

  it("reports a change once to every listener, and nothing if nothing changed", async () => {
    const { feed, become, tell, tellAndRead } = machine();
    await feed.current();
    const heard: FeedState[][] = [[], []];
    for (const list of heard) feed.follow((state) => list.push(state), nothing);
    for (let count = 0; count < 2; count++) await tellAndRead();
    expect(heard).toEqual([[], []]);
    become(1400);
    tell();
    await expect.poll(() => heard.map((list) => list.map(({ id }) => id))).toEqual([["77-2"], ["77-2"]]);
    expect(heard[0]?.[0]?.snapshot.text).toContain('"mtu":"1400"');
  });

  it("ends a burst with the last state", async () => {
    const { feed, become, tell } = machine();
    await feed.current();
    const heard: FeedState[] = [];
    feed.follow((state) => heard.push(state), nothing);
    for (let value = 1; value <= 200; value++) {
      become(value);
      tell();
      if (value % 10 === 0) await nextTurn();
    }
    await expect.poll(() => heard.at(-1)?.snapshot.text).toContain('"mtu":"200"');
    expect(heard.length).toBeLessThan(100);
  });

  it("watches the kernel only while somebody listens", async () => {
    const { feed, watchers } = machine();
    await feed.current();
    expect(watchers()).toBe(0);
    const [leaveOne, leaveOther] = [feed.follow(nothing, nothing), feed.follow(nothing, nothing)];
    expect(watchers()).toBe(1);
    leaveOne();
    expect(watchers()).toBe(1);
    leaveOther();
    expect(watchers()).toBe(0);
    feed.follow(nothing, nothing);
    expect(watchers()).toBe(1);
  });

  it("logs once that the kernel cannot be read, once that it can again, and reports nothing meanwhile", async () => {
    const { feed, tell, tellAndRead, logged, ...it } = machine();
    await feed.current();
    const heard: FeedState[] = [];
    feed.follow((state) => heard.push(state), nothing);
    it.break(true);
    for (let count = 0; count < 3; count++) await tellAndRead();
    expect(heard).toEqual([]);
    it.break(false);
    it.become(1400);
    tell();
    await expect.poll(() => heard.length).toBe(1);
    expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      "the kernel cannot be read",
      "the kernel can be read again",
    ]);
  });

  it("notifies listeners that their data may be stale", async () => {
    const { feed, tell, ...it } = machine();
    await feed.current();
    let lost = 0;
    const leave = feed.follow(nothing, () => {
      lost += 1;
      leave();
    });
    it.break(true);
    tell();
    await expect.poll(() => lost).toBe(1);
    await expect(feed.current()).rejects.toThrow("netlink is out of order");
  });

  it.each(["stops", "loses its last listener"])("does not log a reading that fails while it %s", async (end) => {
    const { feed, tell, logged, stopping, ...it } = machine();
    const leave = feed.follow(nothing, nothing);
    it.break(true);
    tell();
    if (end === "stops") stopping.abort();
    else leave();
    await realPause(30, "longer than two readings are apart");
    expect(logged).toEqual([]);
  });
});
