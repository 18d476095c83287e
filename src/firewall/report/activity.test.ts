import { describe, expect, it } from "vitest";
import type { ActivitySample, ThreadSample } from "../kernel/read-activity.ts";
import { parseCpu, parseMemory, parseThread } from "../kernel/read-activity.ts";
import { activityOf } from "./activity.ts";

const thread = (tid: number, ticks: number, more: Partial<ThreadSample> = {}): ThreadSample => ({
  pid: 7,
  tid,
  user: "moor",
  processName: "node",
  name: "node",
  isKernel: false,
  state: "S",
  priority: 20,
  nice: 0,
  processor: 1,
  size: 1_200_000,
  resident: 58_000,
  ticks,
  ...more,
});
const sample = (ticks: number, idle: number, threads: readonly ThreadSample[]): ActivitySample => ({
  cpu: { user: ticks - idle, nice: 0, system: 0, interrupt: 0, idle, total: ticks },
  processors: 2,
  load: "0.31 0.35 10.02 2/345 4711\n",
  memory: {
    MemFree: 9_999,
    Active: 1_048_576,
    Inactive: 20_971_520,
    Buffers: 10_240,
    SwapTotal: 2_097_152,
    SwapFree: 0,
  },
  uptime: 3 * 86_400 + 4 * 3_600 + 5 * 60 + 6,
  threads,
});
const at = new Date(2026, 10, 15, 9, 8, 7);

describe("the header lines, which clients read by number", () => {
  const { headers } = activityOf(sample(1_000, 500, []), sample(1_200, 650, []), at);
  it.each([
    [0, "last pid: 4711;  load averages:  0.31,  0.35, 10.02  up 3+04:05:06    09:08:07"],
    [1, "345 threads:   2 running, 343 sleeping"],
    [2, "CPU: 25.0% user,  0.0% nice,  0.0% system,  0.0% interrupt, 75.0% idle"],
    [3, "Mem: 1024M Active, 20G Inact, 0K Wired, 10M Buf, 9999K Free"],
    [4, "Swap: 2048M Total, 0K Free"],
  ])("%i: %s", (line, text) => expect(headers[line]).toBe(text));

  it("has no line for swap if there is none", () => {
    const bare = { ...sample(1, 1, []), memory: {} };
    expect(activityOf(bare, bare, at).headers).toHaveLength(4);
  });
});

describe("the rows, one per thread", () => {
  it("have every column as text, the busiest first", () => {
    const before = sample(1_000, 0, [thread(7, 100), thread(8, 100)]);
    const after = sample(1_200, 0, [thread(7, 110), thread(8, 150, { name: "libuv-worker", state: "R" })]);
    expect(activityOf(before, after, at).details).toEqual([
      {
        C: "1",
        PID: "7",
        THR: "8",
        USERNAME: "moor",
        PRI: "20",
        NICE: "0",
        SIZE: "1172M",
        RES: "57M",
        STATE: "RUN",
        TIME: "0:01",
        WCPU: "50.00%",
        COMMAND: "node{libuv-worker}",
      },
      expect.objectContaining({ THR: "7", STATE: "sleep", WCPU: "10.00%", COMMAND: "node" }),
    ]);
  });

  it("show a new thread with no share, kernel threads in brackets, and long times in minutes", () => {
    const born = thread(9, 600_000, { isKernel: true, name: "kworker/0:1", processName: "kworker/0:1", size: 0 });
    expect(activityOf(sample(0, 0, []), sample(100, 0, [born]), at).details).toEqual([
      expect.objectContaining({ WCPU: "0.00%", COMMAND: "[kworker/0:1]", TIME: "100:00", SIZE: "0K" }),
    ]);
  });
});

describe("what the kernel prints", () => {
  it("is parsed: processors, with guest time counted once", () => {
    expect(parseCpu("cpu  10 1 20 300 5 2 3 4 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")).toEqual({
      user: 10,
      nice: 1,
      system: 20,
      interrupt: 5,
      idle: 305,
      total: 345,
    });
    expect(() => parseCpu("nonsense")).toThrow(/no line for all processors/);
  });

  it("is parsed: memory", () => {
    expect(parseMemory("MemTotal:  16000 kB\nHugePages_Total:       0\nMemFree:  200 kB\n")).toEqual({
      MemTotal: 16_000,
      MemFree: 200,
    });
  });

  it("is parsed: a thread whose name looks like the rest of the line", () => {
    const status =
      "Name:\ta) b (c\nState:\tS (sleeping)\nTgid:\t12\nUid:\t33\t33\t33\t33\nVmSize:\t 900 kB\nVmRSS:\t 80 kB\n";
    const numbers = Array.from({ length: 49 }, (_, at) => String(at + 4)).join(" ");
    expect(parseThread(status, `13 (a) b (c) R ${numbers}\n`, new Map([["33", "www"]]))).toEqual({
      pid: 12,
      tid: 13,
      user: "www",
      processName: "a) b (c",
      name: "a) b (c",
      isKernel: false,
      state: "R",
      priority: 18,
      nice: 19,
      processor: 39,
      size: 900,
      resident: 80,
      ticks: 29,
    });
    expect(parseThread("Name:\tkthreadd\nTgid:\t2\nUid:\t0\t0\n", "2 (kthreadd) S 0", new Map())).toMatchObject({
      isKernel: true,
      user: "0",
      size: 0,
      resident: 0,
    });
  });
});
