import { describe, expect, it } from "vitest";
import type { EditableNames } from "../../src/contract/updater-page.ts";
import { newFields } from "./new-fields.ts";

const dns = { name: "dns", called: "moor records", create: true, ttl: true };
const noip = { name: "noip", called: "No-IP", create: false, ttl: false };
const http = { name: "own", called: "another service", create: false, ttl: false };
const sources = [{ name: "wall", called: "OPNsense", isOne: false, devices: [] }];

const known = (targets: EditableNames["targets"], last?: string) => {
  const before = newFields({ entries: [], targets: [], sources: [] });
  const fields = { ...before, zone: "example.org", target: last ?? "" };
  const entries = last === undefined ? [] : [{ title: "home.example.org", records: [], fields, others: [] }];
  return newFields({ entries, targets, sources });
};

describe("a new dynamic name starts", () => {
  it.for([
    ["with the only record service, which needs no mention", [dns], undefined, "", true],
    ["with the only one, also if it cannot create records", [noip], undefined, "", false],
    ["with the one of the last name", [dns, { ...dns, name: "two" }], "two", "two", true],
    ["with one that can create records instead of the last name's, which cannot", [noip, dns], "noip", "dns", true],
    ["with one that can create records, if there is no name yet", [noip, dns], undefined, "dns", true],
    ["with the one of the last name, if none can create records", [noip, http], "own", "own", false],
    ["without a choice, if none can create records and there is no name yet", [noip, http], undefined, "", false],
  ] as const)("%s", ([, targets, last, target, create]) => {
    expect(known(targets, last)).toMatchObject({ target, create });
  });

  it.for([
    ["the only interface that is up", [["eth0"]], "eth0"],
    ["no interface, if there are several", [["eth0", "eth1"]], ""],
    ["no interface, if several sources have some", [["eth0"], ["eth0"]], ""],
  ] as const)("with %s", ([, all, devices]) => {
    const given = all.map((each) => ({ name: "wall", called: "OPNsense", isOne: false, devices: each }));
    const { ipv4, ipv6 } = newFields({ entries: [], targets: [dns], sources: given });
    expect([ipv4, ipv6]).toEqual([
      { isOn: true, devices },
      { isOn: false, devices },
    ]);
  });

  it("in the zone of the last one", () => {
    expect(known([dns], "").zone).toBe("example.org");
  });
});
