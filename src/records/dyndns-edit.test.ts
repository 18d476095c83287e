import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, addressBytes, addressFromBytes, parseAddress } from "../core/address.ts";
import { isInNetwork } from "../core/network.ts";
import { movedAddress } from "./dyndns-edit.ts";

const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => addressFromBytes(bytes) as Address);
const prefix = fc
  .record({ address: ipv6, length: fc.integer({ min: 0, max: 128 }) })
  .map(({ address, length }) => ({ family: "ipv6" as const, bytes: addressBytes(address), length }));
const bitsOf = (address: Address): string =>
  [...addressBytes(address)].map((byte) => byte.toString(2).padStart(8, "0")).join("");

describe("an address moved to another prefix", () => {
  it("is in it, and keeps all bits behind it", () => {
    fc.assert(
      fc.property(ipv6, prefix, (address, network) => {
        const moved = parseAddress(movedAddress(address.text, network)) as Address;
        expect(isInNetwork(moved, network)).toBe(true);
        expect(bitsOf(moved).slice(network.length)).toBe(bitsOf(address).slice(network.length));
      }),
    );
  });
});
