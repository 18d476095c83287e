import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { MadeKey, UserWish } from "../../contract/console-firewall.ts";
import type { Actor } from "../access/audit.ts";
import { openAccess } from "../access/store.ts";
import { PeopleAdmin } from "./console-people.ts";

const access = openAccess(":memory:");
afterEach(() => access.users.remove("anna"));
const people = new PeopleAdmin(access, () => new Date("2026-11-15T12:00:00Z"));
const by = { name: "root", source: "203.0.113.1" };
access.users.add({ name: "root", privileges: ["all"], now: new Date() });
const anna: UserWish = { name: "anna", fullName: "", disabled: false, expires: null, privileges: [] };

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
  ])("%s is reported, with its field: %s", (_, field, sent, wrong) => {
    const expected = { wrong: expect.stringMatching(wrong), field };
    expect(people.addUser({ ...anna, ...sent } as UserWish, by)).toEqual(expected);
  });

  it("can include a key, whose secret is in the answer and nowhere else", () => {
    const added = people.addUser({ ...anna, privileges: ["interface-status"], withKey: true }, by);
    const { key, secret } = (added as { made: MadeKey }).made;
    expect(access.keys.check(key, secret)).toMatchObject({ name: "anna", privileges: ["interface-status"] });
    expect(JSON.stringify([people.list(by), people.audit()])).not.toContain(secret);
    expect(
      people
        .audit()
        .slice(0, 2)
        .map(({ action }) => action),
    ).toContain("key added");
  });

  it("is carried out if it is valid, and the audit log lists its privileges", () => {
    expect(people.addUser({ ...anna, privileges: ["traffic", "gateways"] }, by)).toBe("done");
    expect(people.audit()[0]?.subject).toBe("anna, privileges: traffic, gateways");
  });
});

it("lets nobody lock themselves out of the pages; others may lock them out", async () => {
  access.users.add({ name: "anna", now: new Date(), privileges: ["all"] });
  const herself = { ...by, name: "anna" };
  expect(await people.changeUser("anna", { ...anna, disabled: true, privileges: ["all"] }, herself)).toEqual({
    wrong: "You cannot disable yourself.",
  });
  expect(await people.changeUser("anna", anna, herself)).toEqual({
    wrong: "You cannot remove “All pages” from yourself; another administrator can.",
    field: "privileges",
  });
  expect(await people.changeUser("anna", { ...anna, fullName: "Anna", privileges: ["all"] }, herself)).toBe("done");
  expect(await people.changeUser("anna", anna, by)).toBe("done");
});

describe("the last administrator", () => {
  const last = { wrong: expect.stringMatching(/^This would leave no administrator/) };
  const crew = { name: "crew", privileges: ["all"], networks: [], members: ["boss"] };
  const boss = { name: "boss", source: "203.0.113.1" };
  const rig = () => {
    const own = openAccess(":memory:");
    onTestFinished(own.close);
    const now = new Date("2026-11-15T12:00:00Z");
    const managed = new PeopleAdmin(own, () => now);
    own.users.add({ name: "first", privileges: ["all"], now });
    own.users.add({ name: "boss", now });
    expect(managed.addGroup(crew, { ...boss, name: "first" })).toBe("done");
    own.users.remove("first");
    return { managed, now, own };
  };

  it.each([
    ["their own expiry", { expires: "2026-11-14" }, /^You cannot set your own expiry to the past/],
    ["their own expiry, now", { expires: "2026-11-15T12:00:00.000Z" }, /^You cannot set your own expiry to the past/],
    ["disabling themselves", { disabled: true }, /^You cannot disable yourself/],
  ])("cannot lock themselves out by %s", async (_, change, wrong) => {
    expect(await rig().managed.changeUser("boss", change, boss)).toMatchObject({ wrong: expect.stringMatching(wrong) });
  });

  it.each([
    ["networks elsewhere", { networks: ["192.0.2.0/24"] }],
    ["fewer privileges", { privileges: ["traffic"] }],
    ["no members", { members: [] }],
  ])("cannot lock themselves out by changing their group: %s", (_, change) => {
    const { managed } = rig();
    expect(managed.changeGroup({ name: "crew", ...change }, boss)).toEqual(last);
    expect(managed.list(boss).groups).toEqual([crew]);
    expect(managed.removeGroup("crew", boss)).toEqual(last);
    expect(managed.changeGroup({ name: "crew", networks: ["203.0.113.0/24"] }, boss)).toBe("done");
  });

  it("may go when there is another one, but not when that one has expired", () => {
    const { managed, now, own } = rig();
    own.users.add({ name: "late", privileges: ["all"], expires: new Date(now.getTime() - 1), now });
    expect(managed.removeGroup("crew", boss)).toEqual(last);
    own.users.add({ name: "other", privileges: ["all"], now });
    expect(managed.removeGroup("crew", boss)).toBe("done");
  });
});

it("leaves fields unchanged that a change does not include", async () => {
  const end = "2027-01-31T22:59:59.000Z";
  people.addUser({ ...anna, expires: end, privileges: ["traffic"], disabled: true }, by);
  expect(await people.changeUser("anna", { fullName: "Anna" }, by)).toBe("done");
  const kept = { fullName: "Anna", expires: end, privileges: ["traffic"], disabled: true };
  expect(people.list(by).users.find(({ name }) => name === "anna")).toMatchObject(kept);

  const crew = { name: "crew", privileges: ["traffic"], networks: ["192.0.2.0/24"], members: ["anna"] };
  people.addGroup(crew, by);
  expect(people.changeGroup({ name: "crew", privileges: ["overview"] }, by)).toBe("done");
  expect(people.list(by).groups).toEqual([{ ...crew, privileges: ["overview"] }]);
  people.removeGroup("crew", by);
});

describe("a manager who does not have everything", () => {
  const manager = { name: "manager", source: "192.0.2.9" };
  const now = new Date("2026-11-15T12:00:00Z");
  const wish = (name: string, ...privileges: string[]): UserWish => ({ ...anna, name, privileges });
  const crew = { name: "crew", privileges: ["traffic"], networks: [], members: [] as string[] };
  const idOf = (user: string) => people.list(by).users.find(({ name }) => name === user)?.keys[0]?.id ?? "";
  const more = ["all", "overview"];

  beforeEach(() => {
    const { users, groups, keys } = access;
    users.add({ name: "manager", privileges: ["user-management", "traffic"], now });
    users.add({ name: "boss", privileges: ["all"], now });
    users.add({ name: "off", privileges: ["all"], disabled: true, now });
    users.add({ name: "peer", privileges: ["traffic"], now });
    groups.add({ name: "admins", privileges: ["all"], networks: ["198.51.100.0/24"], now });
    groups.add({ name: "crew", privileges: ["traffic"], now });
    users.add({ name: "bound", now });
    groups.join("admins", "bound");
    for (const name of ["boss", "bound", "peer"]) keys.addFor(name, undefined, now);
    keys.addFor("manager", undefined, now);
  });
  afterEach(() => {
    for (const name of ["manager", "boss", "off", "peer", "bound", "made"]) access.users.remove(name);
    for (const name of ["admins", "crew", "made"]) access.groups.remove(name);
  });

  type Attempt = [string, (person: typeof manager) => unknown];
  const tooMuch: readonly Attempt[] = [
    ["a user with everything", (by) => people.addUser(wish("made", "all"), by)],
    ["a user with one thing more", (by) => people.addUser(wish("made", "overview"), by)],
    ["more for a user", (by) => people.changeUser("peer", { privileges: ["overview"] }, by)],
    ["less for one who has more", (by) => people.changeUser("boss", { privileges: [] }, by)],
    ["another name for one who has more", (by) => people.changeUser("boss", { fullName: "B" }, by)],
    ["disabling one who has more", (by) => people.changeUser("boss", { disabled: true }, by)],
    ["enabling one who has more", (by) => people.changeUser("off", { disabled: false }, by)],
    ["an expiry for one who has more", (by) => people.changeUser("boss", { expires: now.toISOString() }, by)],
    ["removing one who has more", (by) => people.removeUser("boss", by)],
    ["removing one who has more through a group", (by) => people.removeUser("bound", by)],
    ["a key of one who has more", (by) => people.addKey("boss", by)],
    ["a key of one who has more through a group", (by) => people.addKey("bound", by)],
    ["a key of one who is disabled and has more", (by) => people.addKey("off", by)],
    ["revoking a key of one who has more", (by) => people.revokeKey(idOf("boss"), by)],
    ["a group with more", (by) => people.addGroup({ ...crew, name: "made", privileges: more }, by)],
    ["more for a group", (by) => people.changeGroup({ name: "crew", privileges: more }, by)],
    ["less for a group with more", (by) => people.changeGroup({ name: "admins", privileges: [] }, by)],
    ["joining a group with more", (by) => people.changeGroup({ name: "admins", members: ["bound", "peer"] }, by)],
    ["removing a member from a group with more", (by) => people.changeGroup({ name: "admins", members: [] }, by)],
    ["opening a group with more to all networks", (by) => people.changeGroup({ name: "admins", networks: [] }, by)],
    ["removing a group with more", (by) => people.removeGroup("admins", by)],
    ["adding one who has more to a group", (by) => people.changeGroup({ name: "crew", members: ["boss"] }, by)],
    ["a new group of one who has more", (by) => people.addGroup({ ...crew, name: "made", members: ["boss"] }, by)],
  ];

  it.each(tooMuch)("may not do: %s", async (_, attempt) => {
    const before = [people.list(by), people.audit()];
    expect(await attempt(manager)).toEqual({ forbidden: expect.stringMatching(/“(?:All pages|Status: Interfaces)”/) });
    expect([people.list(by), people.audit()]).toEqual(before);
  });

  it.each(tooMuch)("could do, with all privileges: %s", async (_, attempt) => {
    const done = await attempt(by);
    expect(done === "done" || (typeof done === "object" && done !== null && "made" in done)).toBe(true);
  });

  it.each<Attempt>([
    ["a user with as much", (by) => people.addUser(wish("made", "traffic", "user-management"), by)],
    ["another name for a user", (by) => people.changeUser("peer", { fullName: "P" }, by)],
    ["disabling a user", (by) => people.changeUser("peer", { disabled: true }, by)],
    ["removing a user", (by) => people.removeUser("peer", by)],
    ["revoking a key", (by) => people.revokeKey(idOf("peer"), by)],
    ["revoking their own key", (by) => people.revokeKey(idOf("manager"), by)],
    ["joining a group", (by) => people.changeGroup({ name: "crew", members: ["peer"] }, by)],
    ["removing a group", (by) => people.removeGroup("crew", by)],
  ])("may do: %s", async (_, attempt) => {
    expect(await attempt(manager)).toBe("done");
  });

  it("is offered only presets that they can give, and cannot add a user with another one", () => {
    const offered = (who: Actor) => people.list(who).presets.flatMap(({ name, mayGive }) => (mayGive ? [name] : []));
    expect(offered(by)).toEqual(["Updater", "Dashboard", "Administrator"]);
    expect(offered(manager)).toEqual([]);
    access.users.change("manager", { privileges: ["user-management", "interface-status"] });
    expect(offered(manager)).toEqual(["Updater"]);
    for (const { name, privileges } of people.list(manager).presets.slice(1)) {
      expect(people.addUser({ ...wish(name), privileges, withKey: true }, manager)).toHaveProperty("forbidden");
      expect(access.users.find(name)).toBeUndefined();
    }
  });

  it("has a group's privileges only in its networks", () => {
    access.groups.join("admins", "manager");
    expect(people.addKey("bound", manager)).toHaveProperty("forbidden");
    expect(people.addKey("bound", { ...manager, source: "198.51.100.9" })).toHaveProperty("made");
    expect(people.addKey("boss", { ...manager, source: "198.51.100.9" })).toHaveProperty("forbidden");
  });

  it("cannot create anything that is valid longer than themselves", async () => {
    const end = new Date("2026-12-31T00:00:00Z");
    access.users.change("manager", { expires: end });
    const later = { expires: "2027-01-01T00:00:00.000Z" };
    const forbidden = { forbidden: expect.stringMatching(/^That would expire later than your own account/) };
    expect(await people.changeUser("manager", later, manager)).toEqual(forbidden);
    expect(people.addUser({ ...wish("made"), ...later }, manager)).toEqual(forbidden);
    expect(people.addUser({ ...wish("made"), expires: end.toISOString() }, manager)).toBe("done");
  });

  it("cannot give anything to users who are valid longer, not even through a group", async () => {
    access.users.change("manager", { expires: new Date("2026-12-31T00:00:00Z") });
    access.users.add({ name: "made", now });
    const mayNot = (forbidden: RegExp) => ({ forbidden: expect.stringMatching(forbidden) });
    expect(await people.changeUser("made", { privileges: ["traffic"] }, manager)).toEqual(mayNot(/^That would expire/));
    const byGroup = mayNot(/^The account of made expires later than your own/);
    expect(people.changeGroup({ name: "crew", members: ["made"] }, manager)).toEqual(byGroup);
    expect(people.addGroup({ ...crew, name: "new", members: ["made"] }, manager)).toEqual(byGroup);
    access.groups.change("crew", { privileges: [] });
    access.groups.join("crew", "made");
    expect(people.changeGroup({ name: "crew", privileges: ["traffic"] }, manager)).toEqual(byGroup);
    expect(people.changeGroup({ name: "crew", members: [] }, manager)).toBe("done");
    expect(people.changeGroup({ name: "crew", privileges: ["traffic"], members: ["manager"] }, manager)).toBe("done");
  });

  it("cannot change a group whose members have more", () => {
    access.groups.join("crew", "boss");
    expect(people.changeGroup({ name: "crew", privileges: [] }, manager)).toEqual({
      forbidden: expect.stringMatching(/^The user boss has “All pages”/),
    });
    expect(people.changeGroup({ name: "crew", members: ["boss", "peer"] }, manager)).toBe("done");
  });
});
