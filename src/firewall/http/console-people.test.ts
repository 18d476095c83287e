import { afterEach, describe, expect, it } from "vitest";
import type { MadeKey, UserInput } from "../../contract/console-firewall.ts";
import { openAccess } from "../access/store.ts";
import { addUser, auditLines, changeUser, listPeople, removeUser } from "./console-people.ts";

const access = openAccess(":memory:");
afterEach(() => access.users.remove("anna"));
const tools = { access, now: () => new Date("2026-11-15T12:00:00Z") };
const by = { name: "root", source: "203.0.113.1" };
access.users.add({ name: "root", privileges: ["all"], now: new Date() });
const anna: UserInput = { name: "anna", fullName: "", disabled: false, expires: null, privileges: [], networks: [] };

describe("a request for a user, whatever was sent", () => {
  it.each([
    ["no name", "name", { name: undefined }, /^A user name can contain only/],
    ["null for a name", "name", { name: null }, /^A user name can contain only/],
    ["a name with a space", "name", { name: "an na" }, /^A user name can contain only/],
    ["a name that is a dot in a path", "name", { name: "." }, /^A user name can contain only/],
    ["a name that is two dots in a path", "name", { name: ".." }, /^A user name can contain only/],
    ["a name that is taken", "name", { name: "root" }, /^A user root already exists/],
    ["no full name", "fullName", { fullName: undefined }, /^The full name can have/],
    ["no expiry", "expires", { expires: undefined }, /^The expiry is not a valid date/],
    ["a number for an expiry", "expires", { expires: 5 }, /^The expiry is not a valid date/],
    ["a day that does not exist", "expires", { expires: "2027-02-30" }, /^The expiry is not a valid date/],
    ["a time on such a day", "expires", { expires: "2027-02-30T12:00:00.000Z" }, /^The expiry is not a valid date/],
    ["words for an expiry", "expires", { expires: "March 7" }, /^The expiry is not a valid date/],
    ["no privileges", "privileges", { privileges: undefined }, /^Privileges must be a list/],
    ["an unknown privilege", "privileges", { privileges: ["fly"] }, /^There is no privilege fly/],
    ["no networks", "networks", { networks: undefined }, /^Networks must be a list/],
    ["a network that is none", "networks", { networks: ["nowhere"] }, /^nowhere is not a network/],
  ])("%s is reported, with its field: %s", (_, field, sent, wrong) => {
    const expected = { wrong: expect.stringMatching(wrong), field };
    expect(addUser(tools, { ...anna, ...sent } as UserInput, by)).toEqual(expected);
  });

  it("can include a key, whose secret is in the answer and nowhere else", () => {
    const added = addUser(tools, { ...anna, privileges: ["interface-status"], withKey: true }, by);
    const { key, secret } = (added as { made: MadeKey }).made;
    expect(access.keys.check(key, secret)).toMatchObject({ name: "anna", privileges: ["interface-status"] });
    expect(JSON.stringify([listPeople(tools), auditLines(tools)])).not.toContain(secret);
    expect(
      auditLines(tools)
        .slice(0, 2)
        .map(({ action }) => action),
    ).toContain("key added");
  });

  it("is carried out if it is valid, and the audit log lists its privileges", () => {
    expect(addUser(tools, { ...anna, privileges: ["traffic", "gateways"] }, by)).toBe("done");
    expect(auditLines(tools)[0]?.subject).toBe("anna, privileges: traffic, gateways");
  });
});

it.each([
  ["disabling themselves", { disabled: true }, /^You cannot disable yourself/],
  ["their own expiry", { expires: "2026-11-14" }, /^You cannot set your own expiry to the past/],
  ["their own expiry, now", { expires: "2026-11-15T12:00:00.000Z" }, /^You cannot set your own expiry to the past/],
  ["fewer privileges", { privileges: ["traffic"] }, /^You cannot remove “All pages” from yourself/],
  ["networks elsewhere", { networks: ["192.0.2.0/24"] }, /^You are signed in from 203\.0\.113\.1/],
])("administrators cannot lock themselves out: %s", async (_, change, wrong) => {
  expect(await changeUser(tools, "root", change, by)).toMatchObject({ wrong: expect.stringMatching(wrong) });
  expect(access.users.find("root")).toMatchObject({ disabled: false, privileges: ["all"], networks: [] });
  expect(await removeUser(tools, "root", by)).toEqual({ wrong: "You cannot remove yourself." });
});

it("another administrator can lock them out", async () => {
  access.users.add({ name: "anna", now: new Date(), privileges: ["all"] });
  expect(await changeUser(tools, "anna", { networks: ["203.0.113.0/24"] }, { ...by, name: "anna" })).toBe("done");
  expect(await changeUser(tools, "anna", anna, by)).toBe("done");
});

it("leaves fields unchanged that a change does not include", async () => {
  const end = "2027-01-31T22:59:59.000Z";
  addUser(tools, { ...anna, expires: end, privileges: ["traffic"], networks: ["192.0.2.0/24"], disabled: true }, by);
  expect(await changeUser(tools, "anna", { fullName: "Anna" }, by)).toBe("done");
  const kept = { fullName: "Anna", expires: end, privileges: ["traffic"], networks: ["192.0.2.0/24"], disabled: true };
  expect(listPeople(tools).users.find(({ name }) => name === "anna")).toMatchObject(kept);
});
