import { describe, expect, it } from "vitest";
import { wanWith } from "../../../test/rig/updater/services.ts";
import { reportFromWire } from "../../contract/interfaces-client.ts";
import { notAmong } from "./asker.ts";
import { deviceChoices } from "./devices.ts";

describe("the interfaces to pick from, the best first", () => {
  const [outside, inside, bare] = [
    wanWith(["9.9.9.9"], ["2a00::9"]),
    wanWith(["192.168.1.2"], ["fd00::2"]),
    wanWith([], []),
  ];
  const down = { ...outside, flags: [] };
  it.for<[string, Record<string, ReturnType<typeof wanWith>>, string]>([
    ["a public address", { bare, inside, outside }, "outside inside bare none"],
    ["two public addresses, in the order of the firewall", { second: outside, first: outside }, "second first none"],
    ["no public address", { bare, inside }, "inside bare none"],
    ["no address at all", { bare }, "none bare"],
    ["no interface", {}, "none"],
    ["a public address that is down, and another address", { down, inside }, "inside down none"],
    ["only one that is down", { down }, "none down"],
  ])("%s", ([, wire, expected]) => {
    const report = reportFromWire(wire);
    for (const family of ["ipv4", "ipv6"] as const)
      expect(
        deviceChoices(report, family)
          .map(({ value }) => value)
          .join(" "),
      ).toBe(expected);
  });

  it("one that is down is called so", () => {
    const choices = deviceChoices(reportFromWire({ spare: down, inside }), "ipv4");
    expect(choices.find(({ value }) => value === "spare")?.hint).toBe("down; 9.9.9.9");
    expect(notAmong(choices, "--ipv4", "wan").message).toContain("Choose from: inside, spare (down), none.");
  });
});
