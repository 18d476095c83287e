import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createAuthenticator } from "../../../test/rig/access/authenticator.ts";
import { sqliteSql } from "../../lib/sqlite/run-sql.ts";
import { hashSecret } from "../secret.ts";
import { createSessions } from "../session.ts";
import { createSignIn } from "../session-http.ts";
import { createSessionStore, sessionTables } from "../session-store.ts";
import { createSharedSignIn, Entrance, type SharedSignIn } from "../shared-sign-in.ts";
import { createPasskeyStore } from "./passkey-store.ts";

const origin = "https://dns.example.org:8053";
const minute = 60_000;

type Given = { shared?: SharedSignIn; clock: { now: number }; names?: readonly string[] };

function serve(service: string, owner: string, { shared, clock, names }: Given) {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const sql = sqliteSql(database);
  const sessions = createSessions(createSessionStore(sql), () => clock.now);
  const disabled = new Set<string>();
  const people = {
    check: async () => undefined,
    hasName: async () => true,
    describe: async (who: string) => (disabled.has(who) ? undefined : { name: who, hasPassword: false }),
    setPassword: async () => undefined,
  };
  const member = { service, sessions, people, passkeys: createPasskeyStore(sql), owner: async () => owner };
  const entrance = new Entrance(member, shared);
  const noted: string[] = [];
  const note = (what: string) => void noted.push(what);
  const linked = [{ service: "firewall", url: "https://dns.example.org:9443", together: false }] as const;
  const answerTo = createSignIn({ entrance, people, services: () => linked, names, now: () => clock.now, note });
  const send = async (method: string, path: string, headers: Record<string, string>, fields: object = {}) => {
    const own = { origin, host: new URL(headers.origin ?? origin).host, ...headers };
    const request = { method, path, headers: own, body: JSON.stringify(fields), from: "192.0.2.1", port: 8443 };
    const answer = await answerTo(request);
    const cookie = answer?.headers["set-cookie"]?.split(";", 1)[0] ?? "";
    const body = answer?.body ? JSON.parse(answer.body) : {};
    return { status: answer?.status, cookie, body, message: body.error?.message as string | undefined };
  };
  /** A user who is signed in, as by password. */
  const signedIn = async (who: string) => {
    const cookie = `__Host-moor-${service}=${await sessions.begin(who, { from: "192.0.2.1", agent: "" })}`;
    const { csrf } = (await send("GET", "/console/session", { cookie })).body;
    const inside = (method: string, path: string, fields: object = {}, more: Record<string, string> = {}) =>
      send(method, path, { cookie: `${cookie}; ${more.cookie ?? ""}`, "x-csrf-token": csrf }, fields);
    const add = async (device: ReturnType<typeof createAuthenticator>, name = "Phone", how = {}) => {
      const offer = await inside("POST", "/console/passkeys/new");
      const credential = device.create(offer.body, how);
      return await inside("POST", "/console/passkeys", { name, credential }, { cookie: offer.cookie });
    };
    return { inside, add, list: async () => (await inside("GET", "/console/passkeys")).body.passkeys };
  };
  const begin = () => send("POST", "/console/passkey/begin", {});
  const signIn = async (device: ReturnType<typeof createAuthenticator>, how = {}) => {
    const { body, cookie } = await begin();
    return await send("POST", "/console/passkey/finish", { cookie }, { credential: device.get(body, how) });
  };
  return {
    clock,
    disabled,
    noted,
    send,
    signedIn,
    begin,
    signIn,
    who: (cookie: string) => send("GET", "/console/session", { cookie }),
  };
}

const rig = (names: readonly string[] = ["dns.example.org"]) =>
  serve("records", "main", { names, clock: { now: 1_800_000_000_000 } });

describe("a passkey", () => {
  it("is added under a name, signs in, is listed, and no longer signs in once it is removed", async () => {
    const { clock, signedIn, signIn, who, noted } = rig();
    const device = createAuthenticator(origin);
    const anna = await signedIn("anna");
    expect((await anna.add(device, " Phone ")).status).toBe(204);
    expect(await anna.list()).toMatchObject([{ name: "Phone", site: "dns.example.org:8053", used: null }]);
    clock.now += minute;
    const { status, cookie } = await signIn(device);
    expect(status).toBe(204);
    expect((await who(cookie)).body).toMatchObject({ name: "anna", canReturn: true, readOnly: false });
    const [{ id, used }] = await anna.list();
    expect(used).toBe(new Date(clock.now).toISOString());
    expect((await anna.inside("DELETE", `/console/passkeys/${id}`)).status).toBe(204);
    clock.now += minute;
    expect((await signIn(device)).status).toBe(401);
    expect(noted).toEqual([
      "passkey added",
      "signed in with a passkey",
      "passkey removed",
      "sign-in with a passkey refused",
    ]);
  });

  it("signs each challenge once, for the browser that asked, and within ten minutes", async () => {
    const { clock, signedIn, begin, send } = rig();
    const device = createAuthenticator(origin);
    await (await signedIn("anna")).add(device);
    clock.now += minute;
    const [mine, other] = [await begin(), await begin()];
    const credential = device.get(mine.body);
    const finish = (cookie: string, sent = credential) =>
      send("POST", "/console/passkey/finish", { cookie }, { credential: sent });
    expect((await finish("")).status).toBe(401);
    expect((await finish(other.cookie)).status).toBe(401);
    expect((await finish(mine.cookie)).status).toBe(204);
    expect((await finish(mine.cookie)).status).toBe(401);
    const late = await begin();
    clock.now += 10 * minute;
    expect((await finish(late.cookie, device.get(late.body))).status).toBe(401);
  });

  it.each([
    ["on another page", { origin: "https://dns.example.org.evil.example" }],
    ["on another port", { origin: "https://dns.example.org" }],
    ["for another site", { site: "evil.example" }],
    ["without a check of its user", { unverified: true }],
  ])("counts neither when it is added nor when it signs in %s", async (_, how) => {
    const { clock, signedIn, signIn } = rig();
    const [good, bad] = [createAuthenticator(origin), createAuthenticator(origin)];
    const anna = await signedIn("anna");
    await anna.add(good);
    expect((await anna.add(bad, "Other", how)).status).toBe(422);
    clock.now += minute;
    expect((await signIn(good, how)).status).toBe(401);
    expect((await signIn(good)).status).toBe(204);
  });

  it("of somebody else cannot be removed, added again or used by a user who is disabled", async () => {
    const { clock, signedIn, signIn, disabled } = rig();
    const device = createAuthenticator(origin);
    const [anna, bert] = [await signedIn("anna"), await signedIn("bert")];
    await anna.add(device);
    const [{ id }] = await anna.list();
    expect(await bert.list()).toEqual([]);
    expect((await bert.inside("DELETE", `/console/passkeys/${id}`)).status).toBe(404);
    expect((await bert.add(device)).status).toBe(422);
    clock.now += minute;
    disabled.add("anna");
    expect((await signIn(device)).status).toBe(401);
  });

  it("needs a name, a host name, our own page, and a place among twenty", async () => {
    const { signedIn, send } = rig();
    const anna = await signedIn("anna");
    for (const name of ["", "  ", "x".repeat(61)])
      expect((await anna.add(createAuthenticator(origin), name)).status).toBe(422);
    for (const address of ["https://192.0.2.1:8053", "https://[2001:db8::1]"]) {
      const { status, message } = await send("POST", "/console/passkey/begin", { origin: address });
      expect([status, message]).toEqual([422, expect.stringContaining("only with a host name")]);
    }
    const foreign = { origin: "https://evil.example", host: new URL(origin).host };
    expect((await send("POST", "/console/passkey/begin", foreign)).status).toBe(403);
    for (let i = 0; i < 20; i++) expect((await anna.add(createAuthenticator(origin), `${i}`)).status).toBe(204);
    expect((await anna.inside("POST", "/console/passkeys/new")).message).toContain("the maximum");
  });

  it.each<[string, string, number, (readonly string[])?]>([
    ["at which it was added", "https://dns.example.org:8053", 204, []],
    ["of this service, at the port where it listens", "https://dns.example.org:8443", 204],
    ["with a name that is not configured, at the port where it listens", "https://dns.example.org:8443", 401, []],
    ["of a linked service", "https://dns.example.org:9443", 204, []],
    ["of somebody else at another port of the host", "https://dns.example.org:9999", 401],
    ["of somebody else below the host", "https://evil.dns.example.org:8053", 401],
  ])("signs in at the page %s", async (_, at, status, names) => {
    const { clock, signedIn, begin, send } = rig(names);
    const device = createAuthenticator(origin);
    await (await signedIn("anna")).add(device);
    clock.now += minute;
    const { body, cookie } = await begin();
    const credential = device.get({ ...body, rpId: "dns.example.org" }, { origin: at });
    expect((await send("POST", "/console/passkey/finish", { origin: at, cookie }, { credential })).status).toBe(status);
  });

  it("signs no challenge that its caller has made", async () => {
    const { clock, signedIn, begin, send } = rig();
    const device = createAuthenticator(origin);
    await (await signedIn("anna")).add(device);
    clock.now += minute;
    const { body } = await begin();
    const secret = `${"a".repeat(43)}.${clock.now}`;
    const credential = device.get({ ...body, challenge: hashSecret(`passkey sign-in:${secret}`) });
    const cookie = `__Host-moor-records-visit=${secret}`;
    expect((await send("POST", "/console/passkey/finish", { cookie }, { credential })).status).toBe(401);
  });

  it("that is wrong again and again makes the caller wait", async () => {
    const { signIn, begin } = rig();
    for (let i = 0; i < 5; i++) expect((await signIn(createAuthenticator(origin))).status).toBe(401);
    expect((await begin()).status).toBe(429);
  });
});

it("the owner's passkey at one service signs in at all that share the sign-in; other users' passkeys do not", async () => {
  const [shared, clock] = [createSharedSignIn(), { now: 1_800_000_000_000 }];
  const [records, firewall] = [serve("records", "1", { shared, clock }), serve("firewall", "root", { shared, clock })];
  const [owners, annas] = [createAuthenticator(origin), createAuthenticator(origin)];
  const owner = await records.signedIn("1");
  await owner.add(owners);
  await (await records.signedIn("anna")).add(annas);
  clock.now += minute;
  expect((await firewall.signIn(annas)).status).toBe(401);
  expect((await firewall.who((await firewall.signIn(owners)).cookie)).body).toMatchObject({ name: "root" });
  const root = await firewall.signedIn("root");
  const [{ id }] = await root.list();
  expect((await root.inside("DELETE", `/console/passkeys/${id}`)).status).toBe(204);
  expect(await owner.list()).toEqual([]);
});
