import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInForce, type Privilege, type PrivilegeHolder, privileges, rightsOf } from "./privileges.ts";

const now = new Date("2026-11-15T12:00:00Z");
const holder = (more: Partial<PrivilegeHolder> = {}): PrivilegeHolder => ({
  disabled: false,
  privileges: [],
  networks: [],
  ...more,
});

describe("rightsOf", () => {
  it.each<[string, Partial<PrivilegeHolder>, readonly Privilege[] | undefined, readonly Privilege[]]>([
    ["nothing", {}, undefined, []],
    ["their own", { privileges: ["overview"] }, undefined, ["overview"]],
    ["a key limited to one of two", { privileges: ["overview", "gateways"] }, ["gateways"], ["gateways"]],
    ["a key limited to what the user lost", { privileges: ["overview"] }, ["gateways"], []],
    ["a key limited to nothing", { privileges: ["all"] }, [], []],
    ["a narrow key of one who may do all", { privileges: ["all"] }, ["interface-status"], ["interface-status"]],
    ["a wide key of one who may do little", { privileges: ["overview"] }, ["all"], ["overview"]],
    ["a wide key of one who may do all", { privileges: ["all"] }, ["all"], ["all"]],
    ["all and one thing besides", { privileges: ["overview", "all"] }, undefined, ["all"]],
  ])("%s", (_, more, limit, rights) => {
    expect(rightsOf(holder(more), limit, {})).toEqual(rights);
  });

  it.each([
    ["192.0.2.9", ["192.0.2.0/24"], true],
    ["192.0.3.9", ["192.0.2.0/24"], false],
    ["::ffff:192.0.2.9", ["192.0.2.0/24"], true],
    ["2001:db8::9", ["192.0.2.0/24", "2001:db8::/32"], true],
    ["fe80::1%eth0", ["fe80::/10"], true],
    ["192.0.2.9", [], true],
    [undefined, ["0.0.0.0/0"], false],
    ["nonsense", ["0.0.0.0/0", "::/0"], false],
    ["192.0.2.9", ["nonsense"], false],
  ])("from %s, a user of the networks %j has their privileges: %s", (from, networks, counts) => {
    const user = holder({ privileges: ["overview"], networks });
    expect(rightsOf(user, undefined, from === undefined ? {} : { from })).toEqual(counts ? ["overview"] : []);
  });

  it("a limit never gives more than the user has", () => {
    const some = fc.subarray([...privileges]);
    fc.assert(
      fc.property(some, some, (held, limit) => {
        const rights = rightsOf(holder({ privileges: held }), limit, {});
        const covered = (set: readonly Privilege[]) =>
          rights.every((each) => set.includes("all") || set.includes(each));
        expect(covered(held) && covered(limit)).toBe(true);
      }),
    );
  });
});

describe("isInForce", () => {
  it.each([
    ["unchanged", {}, true],
    ["disabled", { disabled: true }, false],
    ["before the expiry", { expires: new Date("2026-11-15T12:00:01Z") }, true],
    ["at the expiry", { expires: now }, false],
  ])("%s: %s", (_, more, inForce) => {
    expect(isInForce(holder(more), now)).toBe(inForce);
  });
});
