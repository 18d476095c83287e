import fc from "fast-check";
import { Address4, Address6 } from "ip-address";
import { describe, expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { isInNetwork, parseNetwork } from "./network.ts";

const within = (address: string, network: string): boolean | undefined => {
  const a = parseAddress(address);
  const n = parseNetwork(network);
  return a && n && isInNetwork(a, n);
};

test.each([
  ["192.0.2.1", "192.0.2.0/24", true],
  ["192.0.3.1", "192.0.2.0/24", false],
  ["192.0.2.129", "192.0.2.128/25", true],
  ["192.0.2.127", "192.0.2.128/25", false],
  ["192.0.2.77", "192.0.2.1/24", true],
  ["192.0.2.1", "192.0.2.1", true],
  ["192.0.2.2", "192.0.2.1", false],
  ["203.0.113.9", "0.0.0.0/0", true],
  ["2001:db8::1", "0.0.0.0/0", false],
  ["192.0.2.1", "::/0", false],
  ["2001:db8:1::1", "2001:db8::/32", true],
  ["2001:db9::1", "2001:db8::/32", false],
  ["2001:db8::1", "2001:db8::1/128", true],
  ["2001:db8::2", "2001:db8::1/128", false],
])("%s in %s: %s", (address, network, expected) => {
  expect(within(address, network)).toBe(expected);
});

describe("texts that are not a network", () => {
  test.each([
    "",
    "/",
    "192.0.2.0/",
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/024",
    "192.0.2/24",
    "::/129",
    "::/0/0",
    "::/1 ",
  ])("%j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});

describe("laws", () => {
  test("the package ip-address agrees for IPv4", () => {
    const near = fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }));
    fc.assert(
      fc.property(near, ([a, b, length]) => {
        // Random addresses are rarely in the same network, so parts of one are reused.
        const mixed = `${a.split(".").slice(0, 2).join(".")}.${b.split(".").slice(2).join(".")}`;
        for (const address of [a, b, mixed]) {
          const expected = new Address4(address).isInSubnet(new Address4(`${a}/${length}`));
          expect(within(address, `${a}/${length}`)).toBe(expected);
        }
      }),
    );
  });

  test("the package ip-address agrees for IPv6", () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 }), (a, b, length) => {
        const network = `${a}/${length}`;
        expect(within(a, network)).toBe(true);
        expect(within(b, network)).toBe(new Address6(b).isInSubnet(new Address6(network)));
      }),
    );
  });
});
