import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, parseAddress } from "../../../core/addresses/address.ts";
import { isUnreachable, scopeOf } from "../../../core/addresses/scope.ts";
import { readDyndns } from "./read-request.ts";

const anything = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined));

describe("a dyndns2 request", () => {
  it("with any parameters is understood or refused, and never names more than 20 hosts", () => {
    fc.assert(
      fc.property(anything, anything, anything, fc.string(), (hostname, myip, myipv6, caller) => {
        const read = readDyndns({ hostname, myip, myipv6 }, caller);
        if (read.kind === "update") expect(read.hosts.length).toBeLessThanOrEqual(20);
      }),
    );
  });

  const isUsable = (text: string) => !isUnreachable(scopeOf(parseAddress(text) as Address)) && !/^2[45]\d\./.test(text);
  it("has the given addresses, whichever parameter they are in", () => {
    const six = fc.ipV6().filter((text) => isUsable(text) && !/^::ffff:|^0+:/i.test(text));
    fc.assert(
      fc.property(fc.ipV4().filter(isUsable), six, fc.boolean(), (four, ipv6, apart) => {
        const query = apart ? { myip: four, myipv6: ipv6 } : { myip: `${ipv6} , ${four}` };
        const read = readDyndns({ hostname: "a.example", ...query }, "192.0.2.1");
        expect(read).toMatchObject({ kind: "update", wanted: { ipv4: { text: four }, ipv6: { family: "ipv6" } } });
      }),
    );
  });

  it.each([
    ...[
      "127.0.0.1",
      "127.9.9.9",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "169.254.1.1",
      "fe80::1",
      "0.0.0.0",
      "::",
    ],
    ...["0.1.2.3", "224.0.0.1", "240.0.0.1", "255.255.255.254", "255.255.255.255", "ff02::1"],
  ])("neither publishes %s nor takes it from the caller: nobody else could use it", (address) => {
    const given = readDyndns({ hostname: "a.example", myip: address }, "192.0.2.1");
    expect(given).toEqual({ kind: "no-address", reason: `${address} cannot be published` });
    expect(readDyndns({ hostname: "a.example", myip: "" }, address)).toEqual({
      kind: "no-address",
      reason: expect.stringMatching(/cannot be published: send an address as myip$/),
    });
    expect(readDyndns({ hostname: "a.example", myip: "192.0.2.1" }, address).kind).toBe("update");
  });

  it.each<[string, Record<string, string>]>([
    ["dotted", { myip: "::ffff:203.0.113.20" }],
    ["in hex", { myip: "0:0:0:0:0:FFFF:cb00:7114" }],
    ["as myipv6", { myipv6: "::ffff:203.0.113.20" }],
    ["twice", { myip: "203.0.113.20", myipv6: "::ffff:203.0.113.20" }],
    ["beside text", { myip: "203.0.113.20", myipv6: "none" }],
    ["beside ::", { myip: "203.0.113.20", myipv6: "::" }],
    ["beside a prefix that is link-local", { myip: "203.0.113.20,fe80::/64" }],
  ])("reads an IPv4 address %s", (_, query) => {
    const wanted = { ipv4: { family: "ipv4", text: "203.0.113.20" } };
    const read = readDyndns({ hostname: "a.example", ...query }, "192.0.2.1");
    expect(read).toEqual({ kind: "update", hosts: ["a.example"], wanted });
  });

  it.each([
    ["192.0.2.1,192.0.2.2", "192.0.2.1 and 192.0.2.2 are of one family: send one of them"],
    ["2a00::1,192.0.2.1,2a00::2", "2a00::1 and 2a00::2 are of one family: send one of them"],
    ["2a00::/64,2a01::/64", "2a00::/64 and 2a01::/64 are of one family: send one of them"],
    ["none,0.0.0.0", '"none" is not an address; 0.0.0.0 cannot be published'],
  ])("refuses %s with the reason", (myip, reason) => {
    expect(readDyndns({ hostname: "a.example", myip }, "192.0.2.1")).toEqual({ kind: "no-address", reason });
  });

  it.each([
    ["YES", "offline"],
    ["yes", "offline"],
    ["NO", "update"],
    ["NOCHG", "update"],
    ["", "update"],
  ])("with offline=%s is understood as %s", (offline, kind) => {
    expect(readDyndns({ hostname: "a.example", offline }, "192.0.2.1").kind).toBe(kind);
  });

  it("prefers an address to a prefix, in either order", () => {
    for (const myipv6 of ["2a00::/64,2a00::1", "2a00::1,2a00::/64"]) {
      const read = readDyndns({ hostname: "a.example", myipv6 }, "192.0.2.1");
      expect(read).toMatchObject({ wanted: { ipv6: { text: "2a00::1" } } });
    }
  });

  it.each([
    ["A.Example.", "a.example"],
    ["a.example", "a.example"],
    ["localhost", undefined],
    ["a..b", undefined],
    ["x".repeat(64).concat(".example"), undefined],
  ])("reads the host %j as %j", (text, host) => {
    expect(readDyndns({ hostname: text }, "192.0.2.1")).toMatchObject({ hosts: [host] });
  });
});
