import { describe, expect, it } from "vitest";
import { clientFromText } from "./client.ts";
import { createQueryLimit, createRateLimit, type QueryLimit, type ReplyVerdict, replyKindOf } from "./rate-limit.ts";

const options = { perSecond: 5, slip: 2, slots: 1_024 };
const answer = replyKindOf(Buffer.from("000084000001000100000000", "hex"));
const noName = replyKindOf(Buffer.from("000084030001000000010000", "hex"));
const from = (text: string) => clientFromText(text, 7);

const times = (count: number, ask: () => ReplyVerdict): ReplyVerdict[] => Array.from({ length: count }, ask);

describe("replies to one network", () => {
  it("are sent up to the limit, then every other one is truncated and the rest dropped", () => {
    const limit = createRateLimit(options);
    expect(times(9, () => limit(from("192.0.2.1"), answer, 1_000))).toEqual([
      ...Array(5).fill("send"),
      "drop",
      "truncate",
      "drop",
      "truncate",
    ]);
  });

  it("are counted for all its addresses together", () => {
    const limit = createRateLimit(options);
    for (let i = 0; i < 5; i++) limit(from(`192.0.2.${i}`), answer, 1_000);
    expect(limit(from("192.0.2.200"), answer, 1_000)).toBe("drop");
    expect(limit(from("192.0.3.1"), answer, 1_000)).toBe("send");
  });

  it("are counted by kind, so that a flood of one kind does not block another", () => {
    const limit = createRateLimit(options);
    times(9, () => limit(from("192.0.2.1"), noName, 1_000));
    expect(limit(from("192.0.2.1"), answer, 1_000)).toBe("send");
  });

  it("are sent again after a while, at the same rate", () => {
    const limit = createRateLimit(options);
    times(20, () => limit(from("192.0.2.1"), answer, 1_000));
    expect(times(3, () => limit(from("192.0.2.1"), answer, 1_400))).toEqual(["send", "send", "truncate"]);
    expect(times(7, () => limit(from("192.0.2.1"), answer, 60_000)).filter((each) => each === "send")).toHaveLength(5);
  });

  it("are not blocked when the clock is set back", () => {
    const limit = createRateLimit(options);
    limit(from("192.0.2.1"), answer, 10_000);
    expect(limit(from("192.0.2.1"), answer, 1_000)).toBe("send");
  });
});

describe("queries of one network", () => {
  const queryLimitOptions = { perSecond: 5, slots: 1_024 };
  const taken = (queryLimit: QueryLimit, count: number, client: string, now: number) =>
    Array.from({ length: count }, () => queryLimit(from(client), now)).filter(Boolean).length;

  it("are processed up to the limit, and again after a while; other networks are counted separately", () => {
    const queryLimit = createQueryLimit(queryLimitOptions);
    expect(taken(queryLimit, 20, "192.0.2.1", 1_000)).toBe(5);
    expect(taken(queryLimit, 20, "192.0.2.9", 1_000)).toBe(0);
    expect(taken(queryLimit, 20, "198.51.100.1", 1_000)).toBe(5);
    expect(taken(queryLimit, 20, "192.0.2.1", 1_400)).toBe(2);
  });

  it("are all processed when they come over loopback: a local forwarder queries for many clients", () => {
    expect(taken(createQueryLimit(queryLimitOptions), 20, "127.0.0.1", 1_000)).toBe(20);
  });
});

it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])("loopback %s is never limited", (client) => {
  const limit = createRateLimit(options);
  expect(new Set(times(100, () => limit(from(client), answer, 1_000)))).toEqual(new Set(["send"]));
});

it("many networks take no more memory than few, and a full table still limits replies", () => {
  const limit = createRateLimit({ ...options, slots: 16 });
  for (let i = 0; i < 10_000; i++) limit(from(`10.${i >> 8}.${i & 255}.1`), answer, 1_000);
  expect(times(6, () => limit(from("192.0.2.1"), answer, 1_000)).at(-1)).toBe("drop");
});

it.each([
  ["192.0.2.77", "192.0.2.1", true],
  ["192.0.2.77", "192.0.3.77", false],
  ["::ffff:192.0.2.77", "192.0.2.1", true],
  ["2001:db8:0:100::1", "2001:db8:0:1ff::2", true],
  ["2001:db8:0:100::1", "2001:db8:0:200::1", false],
  ["fe80::1%eth0", "fe80::2%eth1", true],
])("%s and %s are one network: %s", (one, other, expected) => {
  expect(from(one).network === from(other).network).toBe(expected);
});
