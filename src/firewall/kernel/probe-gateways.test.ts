import { setImmediate } from "node:timers/promises";
import { expect, it, test } from "vitest";
import { afterProbe, type GatewayHealth, probeGateways } from "./probe-gateways.ts";

const up: GatewayHealth = { isDown: false, against: 0 };

/** `x` is a lost packet, `o` an answer; upper case is the state after it. */
test.each([
  ["ooo", "UUU"],
  ["xx", "UU"],
  ["xxx", "UUD"],
  ["xxoxx", "UUUUU"],
  ["xxxoooo", "UUDDDDD"],
  ["xxxooooo", "UUDDDDDU"],
  ["xxxooooxooooo", "UUDDDDDDDDDDU"],
])("%s makes it %s", (probes, states) => {
  let health = up;
  const seen = Array.from(probes, (probe) => {
    health = afterProbe(health, probe === "o");
    return health.isDown ? "D" : "U";
  });
  expect(seen.join("")).toBe(states);
});

it("notices within four rounds that one of two gateways is silent, and returns when it is stable", async () => {
  const [silent, good] = [
    { dev: "wan0", gateway: "192.0.2.1" },
    { dev: "wan1", gateway: "198.51.100.1" },
  ];
  const stop = new AbortController();
  let rounds = 0;
  const states: (boolean | undefined)[] = [];
  const probe = probeGateways(
    {
      gateways: async () => [silent, good],
      ping: async ({ dev }) => {
        if (dev === "wan0") rounds += 1;
        return dev === "wan1" || rounds > 4;
      },
      pause: async () => {
        if (rounds > 0) states.push(probe.healthOf(silent)?.isDown);
        if (rounds > 0) expect(probe.healthOf(good)?.isDown).toBe(false);
        if (rounds === 10) stop.abort();
      },
      onFailure: (error) => {
        throw error;
      },
    },
    stop.signal,
  );
  await probe.ended;
  expect(states).toEqual([false, false, true, true, true, true, true, true, false, false]);
});

it("starts the pause with the round, so that waiting for a lost packet does not lengthen it", async () => {
  const stop = new AbortController();
  const order: string[] = [];
  const probe = probeGateways(
    {
      gateways: async () => [{ dev: "wan0", gateway: "192.0.2.1" }],
      ping: async () => {
        await setImmediate();
        return order.push("answer") > 0;
      },
      pause: async () => {
        order.push("pause");
        stop.abort();
      },
      onFailure: (error) => void order.push(String(error)),
    },
    stop.signal,
  );
  await probe.ended;
  expect(order).toEqual(["pause", "answer"]);
});

it("knows nothing about a gateway that cannot be asked, and goes on after a failure", async () => {
  const stop = new AbortController();
  const failures: unknown[] = [];
  let rounds = 0;
  const gateway = { dev: "wan0", gateway: "192.0.2.1" };
  const probe = probeGateways(
    {
      gateways: async () => {
        if (rounds === 1) throw new Error("no routes");
        return [gateway];
      },
      ping: async () => undefined,
      pause: async () => {
        rounds += 1;
        if (rounds === 3) stop.abort();
      },
      onFailure: (error) => void failures.push(error),
    },
    stop.signal,
  );
  await probe.ended;
  expect([failures.length, probe.healthOf(gateway)]).toEqual([1, undefined]);
});
