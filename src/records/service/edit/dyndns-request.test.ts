import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDyndns } from "./dyndns-request.ts";

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

  it("has the given addresses, whichever parameter they are in", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), fc.boolean(), (four, six, apart) => {
        const query = apart ? { myip: four, myipv6: six } : { myip: `${six} , ${four}` };
        const read = readDyndns({ hostname: "a.example", ...query }, "192.0.2.1");
        expect(read).toMatchObject({ kind: "update", wanted: { ipv4: { text: four }, ipv6: { family: "ipv6" } } });
      }),
    );
  });

  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "169.254.1.1", "0.0.0.0"])(
    "from %s must give an address: nobody else could use the caller's",
    (caller) => {
      expect(readDyndns({ hostname: "a.example", myip: "" }, caller)).toEqual({
        kind: "caller-without-address",
        caller,
      });
      expect(readDyndns({ hostname: "a.example", myip: "192.0.2.1" }, caller).kind).toBe("update");
    },
  );

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
