import { expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { parseNetwork } from "./network.ts";
import { mayBePrimary, portOf } from "./primary-address.ts";

const addressOf = (text: string) => {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
};

const cases: readonly (readonly [string, boolean])[] = [
  ["9.9.9.9", true],
  ["2a01:4f8::53", true],
  // Documentation addresses: examples use them, and nothing answers there.
  ["192.0.2.53", true],
  ["2001:db8::53", true],
  ["0.0.0.0", false],
  ["0.1.2.3", false],
  ["10.0.0.1", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["100.100.100.200", false],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["192.0.0.192", false],
  ["198.18.0.1", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["fd00:ec2::254", false],
  ["fe80::1", false],
  ["fec0::1", false],
  ["ff02::1", false],
  ["::127.0.0.1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:a9fe:a9fe", false],
  ["::ffff:9.9.9.9", true],
  ["64:ff9b::10.0.0.1", false],
  ["64:ff9b::169.254.169.254", false],
  ["64:ff9b::9.9.9.9", true],
  ["64:ff9b:1::9.9.9.9", false],
  ["2002:7f00:1::1", false],
  ["2002:a9fe:a9fe::", false],
  ["2002:909:909::1", true],
  // A Teredo address contains the client's IPv4 address with inverted bits.
  ["2001::f5ff:fffe", false],
];

test.each(cases)("%s may be a primary server without the operator's permission: %s", (text, may) => {
  expect(mayBePrimary(addressOf(text), [])).toBe(may);
});

test.each([
  ["10.1.2.3", "10.0.0.0/8", true],
  ["11.0.0.1", "10.0.0.0/8", true],
  ["127.0.0.1", "10.0.0.0/8", false],
  ["::ffff:10.1.2.3", "10.0.0.0/8", true],
  ["64:ff9b::10.1.2.3", "10.0.0.0/8", true],
  ["64:ff9b::10.1.2.3", "64:ff9b::/96", true],
  ["fd12::53", "fd12::/16", true],
  ["fd13::53", "fd12::/16", false],
])("%s may be a primary server if %s is allowed: %s", (text, network, may) => {
  const allowed = [parseNetwork(network)].flatMap((each) => each ?? []);
  expect(mayBePrimary(addressOf(text), allowed)).toBe(may);
});

test.each([
  [53, 53],
  ["53", 53],
  [65_535, 65_535],
  [1, 1],
  [0, undefined],
  [65_536, undefined],
  [53.5, undefined],
  [-1, undefined],
  ["", undefined],
  ["0x35", undefined],
  [true, undefined],
  [[53], undefined],
  [null, undefined],
])("port %j is read as %s", (value, port) => {
  expect(portOf(value)).toBe(port);
});
