import { endianness } from "node:os";
import { expect, it } from "vitest";
import { defaultGateway } from "./default-gateway.ts";

const number = (address: string) => {
  const bytes = address.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0").toUpperCase());
  return (endianness() === "LE" ? bytes.toReversed() : bytes).join("");
};
const row = (to: string, via: string, { flags = "0003", metric = 0, mask = "0.0.0.0" } = {}) =>
  `eth0\t${number(to)}\t${number(via)}\t${flags}\t0\t0\t${metric}\t${number(mask)}\t0\t0\t0   `;
const table = (...rows: readonly string[]) => ["Iface\tDestination\tGateway \tFlags\t…", ...rows, ""].join("\n");

it.each([
  ["the default route", [row("0.0.0.0", "192.168.1.1")], "192.168.1.1"],
  [
    "the one with the lowest metric",
    [row("0.0.0.0", "10.0.0.1", { metric: 600 }), row("0.0.0.0", "10.0.0.2", { metric: 100 })],
    "10.0.0.2",
  ],
  ["no route to one network", [row("192.168.1.0", "192.168.1.1", { mask: "255.255.255.0" })], undefined],
  ["no route to half of the internet", [row("0.0.0.0", "10.8.0.1", { mask: "128.0.0.0" })], undefined],
  ["no route without a gateway", [row("0.0.0.0", "0.0.0.0", { flags: "0001" })], undefined],
  ["no route that is down", [row("0.0.0.0", "192.168.1.1", { flags: "0002" })], undefined],
  ["nothing in an empty table", [], undefined],
])("the default gateway: %s", (_, rows, expected) => expect(defaultGateway(() => table(...rows))).toBe(expected));

it("the default gateway is unknown if the kernel has no such table", () => {
  const missing = () => {
    throw new Error("ENOENT");
  };
  expect(defaultGateway(missing)).toBeUndefined();
});
