import { expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { gate } from "./publish-gate.ts";

/** The verdict with `public: warn`, then with `public: require`. */
const cases: readonly (readonly [string, "pass" | "warn" | "refuse", "pass" | "refuse"])[] = [
  ["9.9.9.9", "pass", "pass"],
  ["10.0.0.1", "warn", "refuse"],
  ["240.0.0.1", "warn", "refuse"],
  ["0.0.0.0", "refuse", "refuse"],
  ["0.1.2.3", "refuse", "refuse"],
  ["127.0.0.1", "refuse", "refuse"],
  ["169.254.1.1", "refuse", "refuse"],
  ["224.0.0.1", "refuse", "refuse"],
  ["255.255.255.255", "refuse", "refuse"],
  ["2a00::1", "pass", "pass"],
  ["fd00::1", "warn", "refuse"],
  ["::1", "refuse", "refuse"],
  ["::127.0.0.1", "refuse", "refuse"],
  ["::ffff:127.0.0.1", "refuse", "refuse"],
  ["::ffff:9.9.9.9", "warn", "refuse"],
  ["64:ff9b::127.0.0.1", "refuse", "refuse"],
  ["64:ff9b:1::127.0.0.1", "refuse", "refuse"],
  ["2002:7f00:1::1", "refuse", "refuse"],
  ["2002:a00:1::1", "warn", "refuse"],
  ["2002:909:909::1", "pass", "pass"],
];

test.each(cases)("%s: %s, and %s if public addresses are required", (text, usual, strict) => {
  const address = parseAddress(text);
  if (!address) throw new Error(`no address: ${text}`);
  expect([gate(address, address.family).kind, gate(address, address.family, "require").kind]).toEqual([usual, strict]);
});

test("the other family is refused", () => {
  const address = parseAddress("9.9.9.9");
  expect(address && gate(address, "ipv6")).toEqual({ kind: "refuse", because: "wrong-family" });
});
