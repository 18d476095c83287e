import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { addressesIn, askOverUdp } from "../../test/nameserver/ask-over-udp.ts";
import { zonesInMemory } from "../../test/nameserver/zones-in-memory.ts";
import { writtenZone } from "../../test/rig/core/written-sets.suite.ts";
import { freePort } from "../../test/rig/free-port.ts";
import { until } from "../../test/rig/until.ts";
import { emptyMessage, encodeMessage } from "../lib/dns/message.ts";
import { createLog } from "../process/log.ts";
import type { ZoneSource } from "./answer/zone-source.ts";
import { startNameserver } from "./start.ts";

const question = encodeMessage({ ...emptyMessage, id: 1, questions: [{ name: "a.example", type: 1, class: 1 }] });

it("logs the same failure to load at most once a minute", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ format: "text", write: (line) => void lines.push(line) });
  const source = {
    closest: () => Promise.reject(new Error("away")),
    load: async () => undefined,
    follow: () => () => undefined,
  };
  const server = await startNameserver({ listen: [{ host: "127.0.0.1", port: 0 }], source, log });
  onTestFinished(server.close);
  const socket = createSocket("udp4");
  onTestFinished(() => void socket.close());
  const ask = async () => {
    socket.send(question, server.addresses[0]?.port ?? 0, "127.0.0.1");
    await once(socket, "message");
  };
  await ask();
  await ask();
  vi.advanceTimersByTime(59_999);
  await ask();
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  await ask();
  expect(lines).toHaveLength(2);
});

describe("zones that are expected to be asked for", () => {
  const www = { name: "www.large.example", type: 1 };
  const expected = async () => [{ name: "large.example", records: 2, wasAsked: true }];
  const log = createLog({ format: "text", level: "silent", write: () => undefined });

  /** Each load waits until it is released. */
  function gated() {
    const zones = zonesInMemory(writtenZone("large.example", "www 300 A 192.0.2.1"));
    const gates: (() => void)[] = [];
    const load: ZoneSource["load"] = async (name) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return await zones.load(name);
    };
    return { gates, source: { ...zones, expected, load } };
  }

  it("are loaded before it listens", async () => {
    const { gates, source } = gated();
    const port = await freePort();
    const starting = startNameserver({ listen: [{ host: "127.0.0.1", port }], source, log });
    await until(() => gates.length === 1);
    expect(await askOverUdp(port, www, 100)).toBeUndefined();
    gates[0]?.();
    const server = await starting;
    onTestFinished(server.close);
    await server.loaded;
    expect(addressesIn(await askOverUdp(port, www))).toEqual(["192.0.2.1"]);
    expect([gates.length, server.loads]).toEqual([1, { underway: 0, done: 1, failed: 0 }]);
  });

  it("are loaded by each worker before it takes over from the main thread, which answers until then", async () => {
    const { gates, source } = gated();
    const starting = startNameserver({ listen: [{ host: "127.0.0.1", port: 0 }], source, log, workers: 1 });
    await until(() => gates.length === 1);
    gates[0]?.();
    const server = await starting;
    onTestFinished(server.close);
    const ask = async () => addressesIn(await askOverUdp(server.addresses[0]?.port ?? 0, www));
    await until(() => gates.length === 2);
    expect(await ask()).toEqual(["192.0.2.1"]);
    expect(server.counters.map(({ udp }) => udp[0])).toEqual([1, 0]);
    gates[1]?.();
    await server.loaded;
    expect(await ask()).toEqual(["192.0.2.1"]);
    await expect.poll(() => server.counters.map(({ udp }) => udp[0])).toEqual([1, 1]);
    expect(gates).toHaveLength(2);
  });
});
