import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { addressOn, openToOthers, seenFrom } from "./other-machines.ts";

const ipv4 = { family: "IPv4", address: "192.168.1.20" } as NetworkInterfaceInfo;
const local = { family: "IPv6", address: "fe80::1", scopeid: 2 } as NetworkInterfaceInfo;
const ipv6 = { family: "IPv6", address: "2a00::20", scopeid: 0 } as NetworkInterfaceInfo;

describe("the address that other machines use", () => {
  it.each([
    ["IPv4 before IPv6", [local, ipv6, ipv4], "192.168.1.20"],
    ["IPv6 where there is no IPv4", [local, ipv6], "2a00::20"],
  ])("is %s", (_, addresses, found) => expect(addressOn("eth0", { eth0: addresses })).toBe(found));

  it("is never link-local: links cannot name it", () => {
    expect(() => addressOn("eth0", { eth0: [local] })).toThrow("eth0 has no address that other machines can reach");
  });

  it.each([
    ["https://127.0.0.1:8053", "box.example", "https://box.example:8053"],
    ["https://127.0.0.1:8053", "2a00::20", "https://[2a00::20]:8053"],
    ["https://127.0.0.1:8053", undefined, "https://127.0.0.1:8053"],
  ])("in %s, as %s, gives %s", (url, host, seen) => expect(seenFrom(url, host)).toBe(seen));
});

it.each([
  ["127.0.0.1", "box.example", "0.0.0.0"],
  ["127.0.0.1", "2a00::20", "::"],
  ["192.168.1.20", "box.example", "192.168.1.20"],
])("a service at %s for machines that know it as %s listens on %s", (host, name, listens) =>
  expect(openToOthers({ host, port: 8053 }, name)).toEqual({ host: listens, port: 8053 }),
);
