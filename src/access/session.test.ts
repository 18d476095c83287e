import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { sqliteSql } from "../lib/sqlite/run-sql.ts";
import { createSessions } from "./session.ts";
import { cookieOf, dropCookie, isFromOwnPage, isOwnOrigin, setCookie } from "./session-cookie.ts";
import { createSessionStore, sessionTables } from "./session-store.ts";

const start = 1_800_000_000_000;
const minute = 60_000;
const day = 1_440 * minute;
const browser = { from: "192.0.2.1", agent: "a browser" };

function rig() {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const clock = { now: start };
  const sessions = createSessions(createSessionStore(sqliteSql(database)), () => clock.now);
  return { database, clock, sessions };
}

describe("sessions", () => {
  it("are found by their secret, which is nowhere in the database", async () => {
    const { sessions, database } = rig();
    const secret = await sessions.begin("anna", browser);
    expect(await sessions.find(secret)).toMatchObject({ who: "anna", from: "192.0.2.1", agent: "a browser" });
    expect(await sessions.find(`${secret}x`)).toBeUndefined();
    expect(JSON.stringify(database.prepare("SELECT * FROM console_sessions").all())).not.toContain(secret);
  });

  it.for([
    ["used within the week", 7 * day - 1, true],
    ["unused for a week", 7 * day, false],
  ] as const)("%s: after %d ms open is %s", async ([, after, open]) => {
    const { sessions, clock } = rig();
    const secret = await sessions.begin("anna", browser);
    clock.now += after;
    expect((await sessions.find(secret)) !== undefined).toBe(open);
  });

  it("end after a month, however often they are used", async () => {
    const { sessions, clock } = rig();
    const secret = await sessions.begin("anna", browser);
    for (let days = 1; days < 30; days++) {
      clock.now += day;
      expect(await sessions.find(secret), `day ${days}`).toBeDefined();
    }
    clock.now += day;
    expect(await sessions.find(secret)).toBeUndefined();
  });

  it("are listed while they are open, with the time of the last use", async () => {
    const { sessions, clock } = rig();
    const secret = await sessions.begin("anna", browser);
    const seenAt = async (at: number) => {
      clock.now = start + at;
      await sessions.find(secret);
      return (await sessions.list("anna")).map(({ seen }) => seen - start);
    };
    expect(await seenAt(minute)).toEqual([0]);
    expect(await seenAt(minute + 1)).toEqual([minute + 1]);
    expect(await seenAt(8 * day)).toEqual([]);
  });

  it("end one by one, or all of one user; nobody can end another user's", async () => {
    const { sessions } = rig();
    const [one, two, other] = [
      await sessions.begin("anna", browser),
      await sessions.begin("anna", browser),
      await sessions.begin("bert", browser),
    ];
    const id = (await sessions.find(one))?.id ?? 0;
    expect(await sessions.end("bert", id)).toBe(false);
    expect(await sessions.end("anna", id)).toBe(true);
    expect(await sessions.find(one)).toBeUndefined();
    expect(await sessions.list("anna")).toHaveLength(1);
    await sessions.endAll("anna");
    expect(await sessions.find(two)).toBeUndefined();
    expect(await sessions.find(other)).toBeDefined();
  });
});

describe("sign-in links", () => {
  it.for([
    ["in time", 15 * minute - 1, "anna"],
    ["too late", 15 * minute, undefined],
  ] as const)("%s", async ([, after, who]) => {
    const { sessions, clock } = rig();
    const secret = await sessions.makeLink("anna");
    clock.now += after;
    expect(await sessions.redeemLink(secret)).toBe(who);
  });

  it("work once", async () => {
    const { sessions } = rig();
    const secret = await sessions.makeLink("anna");
    expect(await sessions.redeemLink("made up")).toBeUndefined();
    expect(await sessions.redeemLink(secret)).toBe("anna");
    expect(await sessions.redeemLink(secret)).toBeUndefined();
  });
});

describe("the cookie", () => {
  it("is for one host, over TLS, and not for scripts", () => {
    expect(setCookie("records", "s3cret")).toMatch(
      /^__Host-moor-records=s3cret; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(dropCookie("records")).toContain("Max-Age=0");
  });

  it.for([
    ["alone", "__Host-moor-records=a", "a"],
    ["among others", "x=1; __Host-moor-records=a; y=2", "a"],
    ["of another service", "__Host-moor-firewall=a", undefined],
    ["empty", "__Host-moor-records=", undefined],
    ["missing", undefined, undefined],
  ] as const)("is read only if it is of this service and not empty: %s", ([, cookie, secret]) => {
    expect(cookieOf("records", { cookie })).toBe(secret);
  });
});

describe("a request that changes something", () => {
  const host = "127.0.0.1:8053";
  const origin = `https://${host}`;

  it.for([
    ["our own page", { origin, host }, true],
    ["our own page in a newer browser", { origin, host, "sec-fetch-site": "same-origin" }, true],
    ["another port of this host", { origin: "https://127.0.0.1:8443", host, "sec-fetch-site": "same-site" }, false],
    ["another site", { origin: "https://evil.example", host }, false],
    ["a page of this host without TLS", { origin: `http://${host}`, host }, false],
    ["a page without origin", { origin: "null", host }, false],
    ["no browser", { host }, false],
  ] as const)("is accepted only from our own page: %s", ([, headers, own]) => {
    expect(isOwnOrigin(headers)).toBe(own);
  });

  it.for([
    ["http://localhost:8061", true, true],
    ["http://localhost:8061", false, false],
    ["https://localhost:8061", true, true],
    ["http://localhost:80", true, false],
    ["http://console.example", true, false],
  ] as const)("is accepted from %s, without TLS %s: %s", ([from, isPlainHttp, own]) => {
    const named = from.replace(/^https?:\/\//, "").replace(/:80$/, ":8061");
    expect(isFromOwnPage({ headers: { origin: from, host: named }, isPlainHttp })).toBe(own);
  });
});
