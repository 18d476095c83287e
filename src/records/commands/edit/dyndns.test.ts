import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aRecord, aSet } from "../../../../test/rig/records/a-set.ts";
import { type Address, addressBytes, addressFromBytes, parseAddress } from "../../../core/addresses/address.ts";
import { isInNetwork } from "../../../core/addresses/network.ts";
import { movedAddress, pointHost } from "./dyndns.ts";

const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => addressFromBytes(bytes) as Address);
const prefix = fc
  .record({ address: ipv6, length: fc.integer({ min: 0, max: 128 }) })
  .map(({ address, length }) => ({ family: "ipv6" as const, bytes: addressBytes(address), length }));
const bitsOf = (address: Address): string =>
  [...addressBytes(address)].map((byte) => byte.toString(2).padStart(8, "0")).join("");

describe("an address moved to another prefix", () => {
  it("is in that prefix, and keeps all bits after it", () => {
    fc.assert(
      fc.property(ipv6, prefix, (address, network) => {
        const moved = parseAddress(movedAddress(address.text, network)) as Address;
        expect(isInNetwork(moved, network)).toBe(true);
        expect(bitsOf(moved).slice(network.length)).toBe(bitsOf(address).slice(network.length));
      }),
    );
  });
});

describe("a host that is pointed at an address", () => {
  const fresh = { ids: { A: "new A", AAAA: "new" }, now: 9, mayCreate: false };
  const at = (text: string) => parseAddress(text) as Address;

  it("has only that one, even if it was the first of several", () => {
    const two = { ...aSet("home"), records: [aRecord("home", "192.0.2.1"), aRecord("home", "192.0.2.2")] };
    const pointed = pointHost([two], "home", { ipv4: at("192.0.2.1") }, fresh);
    expect(pointed?.wanted.map(({ records }) => records.map(({ rdata }) => rdata))).toEqual([["192.0.2.1"]]);
  });

  it("uses the TTL of the other family for a new one", () => {
    const pointed = pointHost([{ ...aSet("home"), ttl: 60 }], "home", { ipv6: at("2a00::1") }, fresh);
    expect(pointed?.wanted.find(({ type }) => type === "AAAA")).toMatchObject({ ttl: 60, records: [{ id: "new" }] });
  });
});
