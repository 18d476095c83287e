import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { client, startIdentityProvider } from "../../../test/rig/access/identity-provider.ts";
import { sqliteSql } from "../../lib/sqlite/run-sql.ts";
import { createPasskeyStore } from "../passkeys/passkey-store.ts";
import { createSessions } from "../session.ts";
import { createSignIn } from "../session-http.ts";
import { createSessionStore, sessionTables } from "../session-store.ts";
import { Entrance } from "../shared-sign-in.ts";
import { IdentityProvider } from "./identity-provider.ts";
import type { OidcRule } from "./rules.ts";

/** Our sign-in with a real provider. */

const origin = "https://dns.example.org:8053";
const minute = 60_000;

const rules: readonly OidcRule[] = [
  { claim: "groups", value: "dns-admins", account: "main", role: "full" },
  { claim: "groups", value: "dns-readers", account: "main", role: "read" },
];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Rig = {
  readonly allow?: readonly OidcRule[];
  readonly renews?: boolean;
  readonly userinfo?: boolean;
  readonly timeout?: number;
};

async function rig({ allow = rules, renews = true, userinfo = true, timeout }: Rig = {}) {
  const there = await startIdentityProvider(`${origin}/sign-in`, { renews, userinfo });
  closing.push(there.close);
  there.users.set("anna", { groups: ["dns-admins", "family"] });
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const clock = { now: Date.now() };
  const noted: string[] = [];
  const note = (what: string, fields: object) => void noted.push(JSON.stringify({ what, ...fields }));
  const settings = {
    name: "Harbour ID",
    issuer: new URL(there.issuer),
    client: client.id,
    secret: () => client.secret,
  };
  const scopes = ["openid", "profile", "email", "groups", "unknown-scope"];
  const provider = new IdentityProvider({ ...settings, scopes, allow, trust: { kind: "system" }, timeout }, note);
  const sql = sqliteSql(database);
  const sessions = createSessions(createSessionStore(sql), () => clock.now, provider.confirm);
  const disabled = new Set<string>();
  const people = {
    check: async () => undefined,
    hasName: async () => true,
    describe: async (who: string) => (disabled.has(who) ? undefined : { name: who, hasPassword: false }),
    setPassword: async () => undefined,
    forOidc: async (account = "owner") => account,
  };
  const passkeys = createPasskeyStore(sql);
  const entrance = new Entrance({ service: "records", sessions, people, passkeys, owner: async () => "main" });
  const answerTo = createSignIn({ entrance, people, provider, now: () => clock.now, note });

  const send = async (method: string, path: string, headers: Record<string, string>, fields: object = {}) => {
    const own = { origin, host: new URL(origin).host, ...headers };
    const answer = await answerTo({ method, path, headers: own, body: JSON.stringify(fields), from: "192.0.2.1" });
    const cookie = answer?.headers["set-cookie"]?.split(";", 1)[0] ?? "";
    const body = answer?.body ? JSON.parse(answer.body) : {};
    return { status: answer?.status, cookie, body, message: body.error?.message as string | undefined };
  };
  const begin = () => send("POST", "/console/oidc/begin", {});
  /** Through the provider and back. */
  const signIn = async () => {
    const { body, cookie } = await begin();
    return await send("POST", "/console/oidc/finish", { cookie }, { query: await there.walk(body.url) });
  };
  const session = (cookie: string) => send("GET", "/console/session", { cookie });
  const inside = async (cookie: string, method: string, path: string, fields: object = {}) => {
    const { csrf = "" } = (await session(cookie)).body;
    return await send(method, path, { cookie, "x-csrf-token": csrf }, fields);
  };
  /** As the provider sends it: a form, from nobody's browser. */
  const logOut = async (token: string) => {
    const headers = { host: new URL(origin).host, "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams({ logout_token: token }).toString();
    const answer = await answerTo({ method: "POST", path: "/console/oidc/logout", headers, body, from: "192.0.2.9" });
    return { status: answer?.status, text: answer?.body ?? "" };
  };
  return { there, database, clock, noted, disabled, send, begin, signIn, session, inside, logOut };
}

describe("signing in at an identity provider", () => {
  it("asks for a code with PKCE, state and nonce, and only for scopes that the provider has", async () => {
    const { begin } = await rig();
    const { searchParams } = new URL((await begin()).body.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: "code",
      client_id: client.id,
      redirect_uri: `${origin}/sign-in`,
      scope: "openid profile email groups",
      code_challenge_method: "S256",
    });
    for (const name of ["state", "nonce", "code_challenge"]) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
  });

  it("begins a session of the account that the first matching rule names", async () => {
    const { there, signIn, session } = await rig();
    const { status, cookie } = await signIn();
    expect(status).toBe(204);
    expect((await session(cookie)).body).toMatchObject({ name: "main", provider: "Harbour ID", readOnly: false });
    there.users.set("anna", { groups: ["dns-readers"] });
    expect((await session((await signIn()).cookie)).body).toMatchObject({ name: "main", readOnly: true });
  });

  it("keeps its secrets out of the log and, in clear, out of the database", async () => {
    const { there, signIn, session, noted, database, clock } = await rig();
    const { cookie } = await signIn();
    there.state.down = true;
    clock.now += 6 * minute;
    await session(cookie);
    const [row] = database.prepare("SELECT * FROM console_sessions").all();
    expect(row?.ticket).toMatch(/^none\.[0-9a-f]{64}\.[\w-]{100,}$/);
    expect(row?.ticket).not.toContain("anna");
    expect(noted.length).toBe(2);
    for (const secret of [client.secret, cookie.split("=")[1] ?? "", String(row?.ticket)])
      expect(noted.join("\n")).not.toContain(secret);
  });

  it("refuses users whom no rule allows, and after some attempts makes them wait", async () => {
    const { there, begin, signIn, noted } = await rig();
    there.users.set("anna", { groups: ["family"] });
    const { status, message } = await signIn();
    expect([status, message]).toEqual([401, expect.stringContaining("you may not sign in here")]);
    expect(noted.join()).toContain("no rule allows anna");
    for (let i = 0; i < 4; i++) await signIn();
    expect((await begin()).status).toBe(429);
  });

  it("refuses a user who is disabled here", async () => {
    const { signIn, disabled } = await rig();
    disabled.add("main");
    expect(await signIn()).toMatchObject({ status: 401, cookie: "" });
  });

  it("refuses an address that was not verified", async () => {
    const byEmail = [{ claim: "email", value: "anna@example.org", account: "main", role: "full" }] as const;
    const { there, signIn } = await rig({ allow: byEmail });
    there.users.set("anna", { groups: [], email: "anna@example.org", verified: false });
    expect((await signIn()).status).toBe(401);
    there.users.set("anna", { groups: [], email: "anna@example.org", verified: true });
    expect((await signIn()).status).toBe(204);
  });

  it("refuses an ID token whose signature is wrong", async () => {
    const { there, signIn } = await rig();
    there.state.forges = true;
    expect((await signIn()).status).toBe(401);
    there.state.forges = false;
    expect((await signIn()).status).toBe(204);
  });

  it("lets people finish while others, who begin, wait for the provider", async () => {
    const { there, begin, send } = await rig({ timeout: 1_000 });
    there.state.hangs = true;
    const waiting = Array.from({ length: 20 }, () => begin());
    await expect.poll(() => there.asked.length).toBeGreaterThan(0);
    expect((await begin()).status).toBe(429);
    // It is looked at, and not refused as one too many.
    expect((await send("POST", "/console/oidc/finish", {}, { query: "" })).message).toContain("too long");
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 503));
  });

  it("takes the answer only in the browser that began, once, and within ten minutes", async () => {
    const { there, begin, send, clock } = await rig();
    const [mine, other] = [await begin(), await begin()];
    const query = await there.walk(mine.body.url);
    const finish = (cookie: string, text = query) => send("POST", "/console/oidc/finish", { cookie }, { query: text });
    expect((await finish("")).status).toBe(401);
    expect((await finish(other.cookie)).status).toBe(401);
    expect((await finish(mine.cookie, query.replace(/state=[^&]+/, "state=other"))).status).toBe(401);
    expect((await finish(mine.cookie, query.replace(/iss=[^&]+/, "iss=https%3A%2F%2Fevil.example"))).status).toBe(401);
    expect((await finish(mine.cookie)).status).toBe(204);
    expect((await finish(mine.cookie)).status).toBe(401);
    const slow = await begin();
    const late = await there.walk(slow.body.url);
    clock.now += 10 * minute;
    expect(await finish(slow.cookie, late)).toMatchObject({
      status: 401,
      message: expect.stringContaining("too long"),
    });
  });

  it("answers only our own page", async () => {
    const { send } = await rig();
    for (const path of ["/console/oidc/begin", "/console/oidc/finish"])
      expect((await send("POST", path, { origin: "https://evil.example" })).status).toBe(403);
  });

  it("says so when the user cancels, or the provider does not answer", async () => {
    const { there, begin, send } = await rig();
    const { body, cookie } = await begin();
    const state = new URL(body.url).searchParams.get("state");
    const iss = encodeURIComponent(there.issuer);
    const query = `error=access_denied&state=${state}&iss=${iss}`;
    const cancelled = await send("POST", "/console/oidc/finish", { cookie }, { query });
    expect(cancelled).toMatchObject({ status: 401, message: "Harbour ID did not sign you in. Try again." });
    const again = await begin();
    const walked = await there.walk(again.body.url);
    there.state.down = true;
    const down = await send("POST", "/console/oidc/finish", { cookie: again.cookie }, { query: walked });
    expect(down).toMatchObject({ status: 503, message: expect.stringContaining("Harbour ID is not responding") });
  });

  it("says that the provider is unavailable, and works as soon as it is back", async () => {
    const { there, begin, signIn } = await rig();
    there.state.down = true;
    expect(await begin()).toMatchObject({
      status: 503,
      message: expect.stringContaining("Harbour ID is not responding"),
    });
    there.state.down = false;
    expect((await signIn()).status).toBe(204);
  });
});

describe("a logout token of the provider", () => {
  it("ends the sessions of its user, and no others", async () => {
    const { there, signIn, session, logOut, noted } = await rig();
    const mine = [await signIn(), await signIn()];
    there.state.visitor = "bert";
    there.users.set("bert", { groups: ["dns-admins"] });
    const other = await signIn();
    expect((await logOut(there.logoutToken())).status).toBe(200);
    for (const { cookie } of mine) expect((await session(cookie)).status).toBe(401);
    expect((await session(other.cookie)).status).toBe(200);
    expect(noted.join()).toContain('"signed out by the identity provider","sessions":2');
  });

  it("ends one session if it names one that is not known here, only of a user whose sessions have no name", async () => {
    const { there, signIn, session, logOut } = await rig();
    const { cookie } = await signIn();
    expect((await logOut(there.logoutToken({ sub: undefined, sid: "unknown" }))).status).toBe(200);
    expect((await session(cookie)).status).toBe(200);
    expect((await logOut(there.logoutToken({ sid: "unknown" }))).status).toBe(200);
    expect((await session(cookie)).status).toBe(401);
  });

  it("is accepted once, and only from the provider, for this client and now", async () => {
    const old = Math.floor(Date.now() / 1_000) - 600;
    const wrong: [object, string][] = [
      [{ iss: "https://evil.example" }, "another issuer"],
      [{ aud: "another" }, "another client"],
      [{ iat: old }, "too old"],
      [{ events: {} }, "no logout token"],
      [{ nonce: "n" }, "an ID token"],
      [{ sub: undefined }, "neither a user nor a session"],
    ];
    for (const [changes, why] of wrong) {
      const { there, signIn, session, logOut } = await rig();
      const { cookie } = await signIn();
      const answer = await logOut(there.logoutToken(changes));
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(why)]);
      expect((await session(cookie)).status).toBe(200);
    }
    const { there, signIn, session, logOut } = await rig();
    const { cookie } = await signIn();
    expect((await logOut(there.logoutToken({}, "forged"))).text).toContain("not signed by the provider");
    expect((await logOut("a.b.c")).status).toBe(400);
    expect((await session(cookie)).status).toBe(200);
    const token = there.logoutToken();
    expect((await logOut(token)).status).toBe(200);
    const again = await signIn();
    expect((await logOut(token)).text).toContain("used before");
    expect((await session(again.cookie)).status).toBe(200);
  });
});

describe("a session that began at an identity provider", () => {
  it("is confirmed there every five minutes while it is used, once even for requests at the same time", async () => {
    const { there, signIn, session, clock } = await rig();
    const { cookie } = await signIn();
    const renewals = () => there.asked.filter((each) => each === "POST /token").length - 1;
    await session(cookie);
    expect(renewals()).toBe(0);
    for (let round = 1; round <= 30; round++) {
      clock.now += 5 * minute;
      const all = await Promise.all([session(cookie), session(cookie), session(cookie)]);
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(renewals()).toBe(round);
    }
  });

  it.each([
    ["is removed", () => undefined],
    ["loses the group", () => ({ groups: ["family"] })],
    ["loses the last group, of which Keycloak sends no empty list,", () => ({})],
    ["gets another role", () => ({ groups: ["dns-readers"] })],
  ])("ends within five minutes of use after the user %s there", async (_, becomes) => {
    for (const renews of [true, false]) {
      const { there, signIn, session, clock, database } = await rig({ renews });
      const { cookie } = await signIn();
      const now = becomes();
      if (now === undefined) there.users.delete("anna");
      else there.users.set("anna", now);
      expect((await session(cookie)).status).toBe(200);
      clock.now += 5 * minute;
      expect((await session(cookie)).status).toBe(401);
      expect(database.prepare("SELECT count(*) AS n FROM console_sessions").get()).toEqual({ n: 0 });
    }
  });

  const refusals = ["invalid_grant", "access_denied", "invalid_client", "unauthorized_client"];
  it.each(refusals)("ends if the answer is %s", async (refuses) => {
    const { there, signIn, session, clock } = await rig();
    const { cookie } = await signIn();
    there.state.refuses = refuses;
    clock.now += 5 * minute;
    expect((await session(cookie)).status).toBe(401);
    there.state.refuses = undefined;
    expect((await session(cookie)).status).toBe(401);
  });

  it("ends if userinfo is about somebody else, and does not begin", async () => {
    const { there, signIn, session, clock } = await rig();
    const { cookie } = await signIn();
    there.state.answersFor = "bert";
    expect((await signIn()).status).toBe(401);
    clock.now += 5 * minute;
    expect((await session(cookie)).status).toBe(401);
  });

  it("goes on for an hour at most if the provider sends the claim only when somebody signs in", async () => {
    const { there, signIn, session, clock, noted } = await rig({ renews: false, userinfo: false });
    const { cookie } = await signIn();
    there.users.set("anna", {});
    clock.now += 59 * minute;
    expect((await session(cookie)).status).toBe(200);
    clock.now += minute;
    expect((await session(cookie)).status).toBe(401);
    expect(noted.filter((line) => line.includes("ended"))).toEqual([]);
  });

  it("goes on while the provider is down, for an hour at most", async () => {
    const { there, signIn, session, clock } = await rig();
    const { cookie } = await signIn();
    there.state.down = true;
    clock.now += 59 * minute;
    expect((await session(cookie)).status).toBe(200);
    there.state.down = false;
    clock.now += minute - 1;
    expect((await session(cookie)).status).toBe(200);
    there.state.down = true;
    clock.now += 61 * minute;
    expect((await session(cookie)).status).toBe(401);
    there.state.down = false;
    expect((await session(cookie)).status).toBe(401);
  });

  it("can leave nothing behind that outlives it: no password, no passkey", async () => {
    const { signIn, inside } = await rig();
    const { cookie } = await signIn();
    expect((await inside(cookie, "PUT", "/console/password", { next: "four unrelated words" })).status).toBe(403);
    expect((await inside(cookie, "POST", "/console/passkeys/new")).status).toBe(403);
    expect((await inside(cookie, "POST", "/console/passkeys", { name: "x" })).status).toBe(403);
  });

  it("that may only read sees and ends no session but itself", async () => {
    const { there, signIn, inside } = await rig();
    await signIn();
    there.users.set("anna", { groups: ["dns-readers"] });
    const { cookie } = await signIn();
    const { sessions } = (await inside(cookie, "GET", "/console/sessions")).body;
    expect(sessions).toMatchObject([{ current: true, id: "records-2" }]);
    expect((await inside(cookie, "DELETE", "/console/sessions/records-1")).status).toBe(403);
    expect((await inside(cookie, "DELETE", "/console/sessions/records-2")).status).toBe(204);
  });
});
