import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { addressBytes, addressFromBytes, parseIpv6 } from "./address.ts";
import { hostPartOfMac, parseHostPart, withHostPart } from "./host-part.ts";

const joined = (prefix: string, host: ReturnType<typeof parseHostPart>) => {
  const address = parseIpv6(prefix);
  return address && host ? withHostPart(address, host).text : undefined;
};

describe("a prefix and a host part", () => {
  test.each([
    ["2a00:1:2:3::99", "::1", 64, "2a00:1:2:3::1"],
    ["2a00:1:2:3:4:5:6:7", "::aa:bb", 64, "2a00:1:2:3::aa:bb"],
    ["2a00:1:2:3ff::1", "::f0:0:0:0:1", 56, "2a00:1:2:3f0::1"],
    ["2a00:1:2::1", "::5:0:0:0:1", 48, "2a00:1:2:5::1"],
    ["2a00:1:2:3::99", "1::1", 64, undefined],
    ["2a00:1:2:3::99", "::", 64, undefined],
    ["2a00:1:2:3::99", "nonsense", 64, undefined],
    ["2a00:1:2:3::99", "9.9.9.9", 64, undefined],
  ])("%s and %s at %i bits: %s", (prefix, host, length, expected) => {
    expect(joined(prefix, parseHostPart(host, length))).toBe(expected);
  });

  test.each([
    ["02:00:5e:10:00:01", "2a00:1:2:3:0:5eff:fe10:1"],
    ["00-1B-21-AA-BB-CC", "2a00:1:2:3:21b:21ff:feaa:bbcc"],
    ["02:00:5e:10:00", undefined],
    ["zz:00:5e:10:00:01", undefined],
  ])("the host part is made from the MAC %s: %s", (mac, expected) => {
    expect(joined("2a00:1:2:3::1", hostPartOfMac(mac))).toBe(expected);
  });

  it("no host part is made from a MAC if the prefix is longer than 64 bits", () => {
    expect(hostPartOfMac("02:00:5e:10:00:01", 64)).toBeDefined();
    expect(hostPartOfMac("02:00:5e:10:00:01", 65)).toBeUndefined();
  });

  const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 });
  it("every bit of both is in the address", () => {
    fc.assert(
      fc.property(bytes16, bytes16, fc.integer({ min: 16, max: 126 }), (network, host, length) => {
        const bit = (bytes: Uint8Array, n: number) => ((bytes[n >> 3] ?? 0) >> (7 - (n & 7))) & 1;
        const inHost = host.map((byte, i) => byte & (0xff >> Math.min(8, Math.max(0, length - 8 * i))));
        const prefix = addressFromBytes(network);
        if (!prefix) throw new Error("no address");
        const address = addressBytes(withHostPart(prefix, { bytes: inHost, prefixLength: length }));
        for (let n = 0; n < 128; n++) expect(bit(address, n)).toBe(bit(n < length ? network : host, n));
      }),
    );
  });
});
