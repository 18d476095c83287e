import { describe, expect, it } from "vitest";
import { parseNetwork } from "./network.ts";
import { comesFrom, householdOf, isLoopback, plainAddress } from "./peer-address.ts";

describe("the other side of a socket", () => {
  it.each([
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["fe80::1%eth0", "fe80::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:0:1", "::ffff:0:1"],
  ])("%s is %s", (text, plain) => {
    expect(plainAddress(text)).toBe(plain);
  });

  it.each([
    ["192.0.2.9", ["192.0.2.0/24"], true],
    ["192.0.3.9", ["192.0.2.0/24"], false],
    ["::ffff:192.0.2.9", ["192.0.2.0/24"], true],
    ["2001:db8::9", ["192.0.2.0/24", "2001:db8::/32"], true],
    ["fe80::1%eth0", ["fe80::/10"], true],
    ["192.0.2.9", [], false],
    [undefined, ["0.0.0.0/0"], false],
    ["nonsense", ["0.0.0.0/0", "::/0"], false],
  ])("%s is in one of %j: %s", (peer, networks, is) => {
    const known = networks.flatMap((text) => parseNetwork(text) ?? []);
    expect(comesFrom(peer, known)).toBe(is);
  });

  it.each([
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.1", "::ffff:192.0.2.1", true],
    ["2001:db8:0:1::1", "2001:db8:0:1:ffff::9", true],
    ["2001:db8:0:1::1", "2001:db8:0:2::1", false],
    ["2001:db8::1", "2001:db8::5:6:7:8", true],
    ["fe80::1%eth0", "fe80::2:0:0:1%eth0", true],
  ])("%s and %s are in one household: %s", (one, other, same) => {
    expect(householdOf(one) === householdOf(other)).toBe(same);
  });

  it.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["12.7.0.1", false],
    ["::ffff:192.0.2.1", false],
  ])("%s is this machine: %s", (peer, is) => {
    expect(isLoopback(peer)).toBe(is);
  });
});
