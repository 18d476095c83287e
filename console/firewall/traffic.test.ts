import { describe, expect, it } from "vitest";
import { rateInWords, type Traffic, withSample } from "./traffic.ts";

/** The rules of the firewall's pages, tested without a browser. */

const counted = (at: number, received: number, sent = 0) => ({
  at,
  defaultRoutes: [],
  devices: { ppp0: { received, sent } },
});

describe("the traffic of a device", () => {
  it("is the difference of its counters per second, in bits", () => {
    const first = withSample(undefined, counted(1_000, 5_000));
    expect(first.rates).toEqual({});
    expect(withSample(first, counted(3_000, 6_000, 500)).rates).toEqual({
      ppp0: [{ at: 3_000, received: 4_000, sent: 2_000 }],
    });
  });

  it("is not drawn across a restart of the service or of the device, and not twice for one reading", () => {
    const known = withSample(withSample(undefined, counted(1_000, 0)), counted(2_000, 10));
    expect(withSample(known, counted(2_000, 10))).toBe(known);
    expect(withSample(known, counted(500, 20)).rates).toEqual({});
    expect(withSample(known, counted(3_000, 5)).rates).toEqual({ ppp0: [] });
  });

  it("is kept for a limited number of readings", () => {
    let known: Traffic | undefined;
    for (let i = 0; i < 500; i++) known = withSample(known, counted(i * 2_000, i));
    expect(known?.rates.ppp0).toHaveLength(60);
  });

  it.for([
    [0, "0 bit/s"],
    [999, "999 bit/s"],
    [1_200, "1.2 kbit/s"],
    [940_000, "940 kbit/s"],
    [98_400_000, "98 Mbit/s"],
    [25_000_000_000, "25 Gbit/s"],
  ] as const)("%d is %s", ([bits, words]) => {
    expect(rateInWords(bits)).toBe(words);
  });
});
