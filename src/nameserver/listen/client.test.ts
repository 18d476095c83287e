import { expect, it } from "vitest";
import { clientAddress, clientFromText } from "./client.ts";

it.each([
  ["192.0.2.255", "192.0.2.255"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8::1", "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1"],
  ["fe80::1%eth0", "254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.1"],
  ["", "0.0.0.0"],
])("the address of the client %s has the bytes %s", (text, bytes) => {
  expect(clientAddress(text).join(".")).toBe(bytes);
});

it("networks are hashed with the seed", () => {
  expect(clientFromText("192.0.2.1", 1).network).not.toBe(clientFromText("192.0.2.1", 2).network);
});
