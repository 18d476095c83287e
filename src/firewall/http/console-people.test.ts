import { afterEach, describe, expect, it } from "vitest";
import type { UserWish } from "../../contract/console-firewall.ts";
import { openAccess } from "../access/store.ts";
import { consolePeople } from "./console-people.ts";

const access = openAccess(":memory:");
afterEach(() => access.users.remove("anna"));
const people = consolePeople(access, () => new Date("2026-11-15T12:00:00Z"));
const by = { name: "root", source: "203.0.113.1" };
const anna: UserWish = { name: "anna", fullName: "", disabled: false, expires: null, privileges: [] };

describe("a wish for a user, whatever was sent", () => {
  it.each([
    ["no name", { name: undefined }, /^A user's name has/],
    ["null for a name", { name: null }, /^A user's name has/],
    ["a name with a blank", { name: "an na" }, /^A user's name has/],
    ["no full name", { fullName: undefined }, /^The full name has/],
    ["no end", { expires: undefined }, /^The end is not a day/],
    ["a number for an end", { expires: 5 }, /^The end is not a day/],
    ["no privileges", { privileges: undefined }, /^Privileges are a list/],
    ["an unknown privilege", { privileges: ["fly"] }, /^There is no privilege fly/],
  ])("%s is told", (_, sent, wrong) => {
    expect(people.addUser({ ...anna, ...sent } as UserWish, by)).toEqual({ wrong: expect.stringMatching(wrong) });
  });

  it("is done when all is well", () => {
    expect(people.addUser(anna, by)).toBe("done");
  });
});

it("lets nobody shut himself out of the pages, but others may do it", async () => {
  access.users.add({ name: "anna", now: new Date(), privileges: ["all"] });
  const herself = { ...by, name: "anna" };
  expect(await people.changeUser("anna", { ...anna, disabled: true, privileges: ["all"] }, herself)).toEqual({
    wrong: "You cannot disable yourself.",
  });
  expect(await people.changeUser("anna", anna, herself)).toEqual({
    wrong: "You cannot take “All pages” from yourself; another administrator can.",
  });
  expect(await people.changeUser("anna", { ...anna, fullName: "Anna", privileges: ["all"] }, herself)).toBe("done");
  expect(await people.changeUser("anna", anna, by)).toBe("done");
});

it("leaves what a change does not speak of as it is", async () => {
  const end = "2027-01-31T22:59:59.000Z";
  people.addUser({ ...anna, expires: end, privileges: ["traffic"], disabled: true }, by);
  expect(await people.changeUser("anna", { fullName: "Anna" }, by)).toBe("done");
  const kept = { fullName: "Anna", expires: end, privileges: ["traffic"], disabled: true };
  expect(people.list().users.find(({ name }) => name === "anna")).toMatchObject(kept);

  const crew = { name: "crew", privileges: ["traffic"], networks: ["192.0.2.0/24"], members: ["anna"] };
  people.addGroup(crew, by);
  expect(people.changeGroup({ name: "crew", privileges: ["overview"] }, by)).toBe("done");
  expect(people.list().groups).toEqual([{ ...crew, privileges: ["overview"] }]);
  people.removeGroup("crew", by);
});
