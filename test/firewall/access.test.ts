import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewApiKey } from "../../src/firewall/access/keys.ts";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig;
let admin: NewApiKey;
beforeAll(async () => {
  rig = await openRig({ read: async () => [] });
  admin = rig.key("admin", ["all"]);
  rig.access.users.add({ name: "anna b", privileges: ["interface-status"], now: new Date() });
});
afterAll(() => rig.close());

const post = (path: string, body = "", headers: Record<string, string> = {}) =>
  rig.ask(path, { key: admin, method: "POST", body, headers });
const parsed = (text: string) => JSON.parse(text) as Record<string, string>;
const status = "/api/diagnostics/interface/getinterfaceconfig";

describe("add_api_key", () => {
  it("adds a key that works immediately, shows its secret, and records who added it", async () => {
    const { status: code, body } = await post("/api/auth/user/add_api_key/anna%20b");
    const made = parsed(body);
    expect(code).toBe(200);
    expect(Object.keys(made)).toEqual(["result", "hostname", "key", "secret"]);
    expect(made).toMatchObject({ result: "ok", hostname: hostname() });
    for (const part of [made.key, made.secret]) expect(part).toMatch(/^[A-Za-z0-9+/]{80}$/);
    expect((await rig.ask(status, { key: { key: made.key ?? "", secret: made.secret ?? "" } })).status).toBe(200);
    expect(rig.access.audit.latest(1)).toMatchObject([
      { actor: "admin", source: "127.0.0.1", action: "key added", subject: `${made.key?.slice(0, 12)}… of anna b` },
    ]);
    expect(rig.logged.join("") + JSON.stringify(rig.access.audit.latest(10))).not.toContain(made.secret);
  });

  it.each([
    ["an unknown user", "POST", "/api/auth/user/add_api_key/nobody", { status: 200, body: '{"result":"failed"}' }],
    ["GET", "GET", "/api/auth/user/addApiKey/anna%20b", { status: 200, body: '{"result":"failed"}' }],
    ["no user", "POST", "/api/auth/user/add_api_key", { status: 404 }],
    [
      "a user with an invalid name",
      "POST",
      "/api/auth/user/add_api_key/%zz",
      { status: 200, body: '{"result":"failed"}' },
    ],
  ])("%s", async (_, method, path, expected) => {
    const body = method === "POST" ? { body: "" } : {};
    expect(await rig.ask(path, { key: admin, method, ...body })).toMatchObject(expected);
  });
});

describe("search_api_key and del_api_key", () => {
  it("lists the valid keys, and deletes one", async () => {
    const made = rig.key("gone soon", ["interface-status"]);
    const id = Buffer.from(made.key).toString("base64");
    const search = () => post("/api/auth/user/search_api_key", "current=1&rowCount=-1&searchPhrase=gone");
    expect(JSON.parse((await search()).body)).toEqual({
      ...{ total: 1, rowCount: 1, current: 1, rows: [{ username: "gone soon", key: made.key, id }] },
    });
    expect(await rig.ask(`/api/auth/user/del_api_key/${id}`, { key: admin })).toMatchObject({
      body: '{"result":"failed"}',
    });
    expect((await rig.ask(status, { key: made })).status).toBe(200);
    expect((await post(`/api/auth/user/del_api_key/${id}`)).body).toBe('{"result":"deleted"}');
    expect((await rig.ask(status, { key: made })).status).toBe(401);
    expect((await post(`/api/auth/user/del_api_key/${id}`)).body).toBe('{"result":"not found"}');
    expect(JSON.parse((await search()).body)).toMatchObject({ total: 0, rows: [] });
    expect(rig.access.audit.latest(1)).toMatchObject([{ actor: "admin", action: "key deleted" }]);
  });

  it.each([
    ["JSON", '{"rowCount":1,"current":2}', "application/json", 1],
    ["broken JSON", "{", "application/json", 99],
    ["a form", "rowCount=1&current=1&sort[username]=desc", "application/x-www-form-urlencoded", 1],
    ["far too much", `searchPhrase=${"x".repeat(100_000)}`, "application/x-www-form-urlencoded", 99],
  ])("accepts its fields as %s", async (_, body, type, most) => {
    const got = await post("/api/auth/user/searchApiKey", body, { "content-type": type });
    expect(got.status).toBe(200);
    const page = JSON.parse(got.body) as { rows: unknown[]; total: number };
    expect(page.total).toBeGreaterThan(1);
    expect(page.rows.length).toBe(Math.min(most, page.total));
  });
});

it("a narrow key of an administrator cannot add or delete keys", async () => {
  const narrow = rig.access.keys.addFor("admin", ["interface-status"], new Date()) ?? admin;
  const before = rig.access.keys.list();
  for (const path of ["add_api_key/admin", "addApiKey/admin", `del_api_key/${btoa(admin.key)}`])
    expect(await rig.ask(`/api/auth/user/${path}`, { key: narrow, method: "POST", body: "" })).toMatchObject({
      status: 403,
      body: '{"status":403,"message":"Forbidden"}',
    });
  expect(rig.access.keys.list().map(({ key }) => key)).toEqual(before.map(({ key }) => key));
});

describe("priv/search", () => {
  it("lists what each privilege allows and who has it", async () => {
    const got = await rig.ask("/api/auth/priv/search?searchPhrase=get_interface_config", { key: admin });
    expect(JSON.parse(got.body)).toMatchObject({
      total: 1,
      rows: [
        {
          id: "interface-status",
          match: "api/diagnostics/interface/get_interface_config\napi/diagnostics/interface/events",
          users: expect.arrayContaining(["anna b"]),
        },
      ],
    });
  });
});

it("the pages let only an administrator manage users", async () => {
  rig.access.users.add({ name: "helper", privileges: ["interface-status", "overview"], now: new Date() });
  const link = new URL(await rig.service.createSignInLink("helper")).hash.slice(1);
  const origin = { origin: rig.service.url };
  const entered = await rig.ask("/console/sign-in-link", {
    method: "POST",
    body: JSON.stringify({ link }),
    headers: origin,
  });
  const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  const { csrf = "" } = parsed((await rig.ask("/console/session", { headers: { cookie } })).body);
  const headers = { ...origin, cookie, "x-csrf-token": csrf };
  const before = rig.access.audit.latest(1);
  for (const [method, path, body] of [
    ["GET", "people", undefined],
    ["GET", "audit", undefined],
    ["POST", "users/admin/keys", ""],
    ["PUT", "users/helper", '{"privileges":["all"]}'],
    ["DELETE", "users/admin", ""],
  ] as const) {
    const got = await rig.ask(`/console/${path}`, { method, headers, ...(body !== undefined && { body }) });
    expect([path, got.status, got.body]).toEqual([path, 403, expect.stringContaining("Only an administrator")]);
  }
  expect(rig.access.audit.latest(1)).toEqual(before);
  rig.access.users.remove("helper");
  expect((await rig.ask("/console/session", { headers })).status).toBe(401);
});

describe("a user who is disabled or has expired", () => {
  const cases = [
    ["disabled", { disabled: true }],
    ["expired", { expires: new Date(0) }],
  ] as const;
  const linesOf = (name: string) => rig.logged.filter((line) => line.includes(`"${name}"`)).join("");

  it.each(cases)("%s: the key gets the same response as a wrong one, and the log says why", async (why, change) => {
    const key = rig.key(`key-${why}`, ["interface-status"]);
    rig.access.users.change(`key-${why}`, change);
    const wrong = await rig.ask(status, { key: { ...key, secret: "wrong" } });
    // Only the 1st, 2nd, 4th, 8th … failure from a source is logged.
    for (let tries = 0; tries < 40 && linesOf(`key-${why}`) === ""; tries += 1) {
      const { status: code, body } = await rig.ask(status, { key });
      expect({ code, body }).toEqual({ code: wrong.status, body: wrong.body });
    }
    expect(linesOf(`key-${why}`)).toMatch(why === "disabled" ? /the user is disabled/ : /the user has expired/);
  });

  it.each(cases)(
    "%s: the right password gets the same response as a wrong one, and the log says why",
    async (why, change) => {
      const name = `person-${why}`;
      rig.access.users.add({ name, ...change, now: new Date() });
      await rig.access.users.setPassword(name, "correct horse");
      const signIn = (password: string) =>
        rig.ask("/console/sign-in", {
          ...{ method: "POST", headers: { origin: rig.service.url }, body: JSON.stringify({ name, password }) },
        });
      const [right, wrong] = [await signIn("correct horse"), await signIn("wrong")];
      expect([right.status, right.body]).toEqual([wrong.status, wrong.body]);
      expect(linesOf(name)).toMatch(
        new RegExp(`"because":"the user is ${why}"[^]*"because":"name or password is wrong"`),
      );
    },
  );
});
