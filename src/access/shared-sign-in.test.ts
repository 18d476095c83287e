import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { sqliteSql } from "../lib/sqlite/run-sql.ts";
import { createSessions } from "./session.ts";
import { createSignIn } from "./session-http.ts";
import { createSessionStore, sessionTables } from "./session-store.ts";
import { createSharedSignIn, Entrance, type SharedSignIn, sessionOf } from "./shared-sign-in.ts";

const browser = { from: "192.0.2.1", agent: "a browser" };
const day = 86_400_000;

type Names = { readonly [service: string]: string | undefined };

/** A service whose users are in `passwords`; `owners` says who owns each service at the moment. */
function serve(service: string, owners: Names, clock: { now: number }, shared?: SharedSignIn) {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const sessions = createSessions(createSessionStore(sqliteSql(database)), () => clock.now);
  const withPassword = new Set<string>();
  const people = {
    check: async () => undefined,
    hasName: async () => true,
    describe: async (who: string) => ({ name: who, hasPassword: withPassword.has(who) }),
    setPassword: async (who: string) => void withPassword.add(who),
  };
  const owner = async () => owners[service];
  const entrance = new Entrance({ service, sessions, people, owner }, shared);
  const signIn = createSignIn({ entrance, people, now: () => clock.now, note: () => undefined });
  const call = async (method: string, path: string, cookie: string, fields: unknown = {}) => {
    const host = "127.0.0.1:1";
    const asked = { method, path, body: JSON.stringify(fields), from: browser.from };
    const csrf = (await entrance.find({ headers: { cookie }, from: browser.from }))?.csrf ?? "";
    const headers = { cookie, host, origin: `https://${host}`, "x-csrf-token": csrf };
    const answer = await signIn({ ...asked, headers });
    return { status: answer?.status, ...(answer?.body ? JSON.parse(answer.body) : {}) };
  };
  return {
    entrance,
    sessions,
    call,
    begin: async (who: string) => `__Host-moor-${service}=${await sessions.begin(who, browser)}`,
    /** Who the browser with these cookies is here. */
    who: async (cookie: string) => (await entrance.find({ headers: { cookie }, from: browser.from }))?.who,
  };
}

function rig(owners: { records?: string; firewall?: string } = { records: "1", firewall: "root" }) {
  const clock = { now: 1_800_000_000_000 };
  const shared = createSharedSignIn();
  return {
    owners,
    clock,
    shared,
    records: serve("records", owners, clock, shared),
    firewall: serve("firewall", owners, clock, shared),
  };
}

describe("one sign-in for services that share it", () => {
  it("the owner's session at one counts at the other, under the owner's name there", async () => {
    const { records, firewall } = rig();
    expect(await firewall.who(await records.begin("1"))).toBe("root");
    expect(await records.who(await firewall.begin("root"))).toBe("1");
  });

  it("other users gain nothing, even with the owner's name", async () => {
    const { records, firewall } = rig();
    for (const who of ["anna", "1", "main"]) expect(await records.who(await firewall.begin(who))).toBeUndefined();
    for (const who of ["2", "root"]) expect(await firewall.who(await records.begin(who))).toBeUndefined();
  });

  it("a user who is not the owner stays that user, even in the owner's browser", async () => {
    const { records, firewall } = rig();
    const both = `${await records.begin("1")}; ${await firewall.begin("anna")}`;
    expect([await records.who(both), await firewall.who(both)]).toEqual(["1", "anna"]);
  });

  it("somebody who may no longer do everything is no longer the owner", async () => {
    const { owners, records, firewall } = rig();
    const [here, there] = [await records.begin("1"), await firewall.begin("root")];
    delete owners.firewall;
    expect([await firewall.who(here), await records.who(there)]).toEqual([undefined, undefined]);
    expect(await firewall.who(there)).toBe("root");
  });

  it.for([
    ["made up", async () => "__Host-moor-records=made-up"],
    ["of another service", async ({ records }) => (await records.begin("1")).replace("records", "updater")],
    ["under the wrong name", async ({ records }) => (await records.begin("1")).replace("records", "firewall")],
    [
      "that has ended",
      async ({ records }) => {
        const cookie = await records.begin("1");
        await records.sessions.endAll("1");
        return cookie;
      },
    ],
    [
      "that has expired",
      async ({ records, clock }) => {
        const cookie = await records.begin("1");
        clock.now += 7 * day;
        return cookie;
      },
    ],
  ] as readonly (readonly [string, (of: ReturnType<typeof rig>) => Promise<string>])[])(
    "a session %s counts nowhere",
    async ([, make]) => {
      const services = rig();
      const answer = await services.firewall.call("GET", "/console/session", await make(services));
      expect(answer).toEqual({ status: 401, error: { message: "Sign in first." } });
    },
  );

  it("services that do not share it know nothing of each other's sessions", async () => {
    const clock = { now: 1 };
    const owners = { records: "1", firewall: "root" };
    const [records, firewall] = [serve("records", owners, clock), serve("firewall", owners, clock)];
    expect(await firewall.who(await records.begin("1"))).toBeUndefined();
  });

  it("changes need the CSRF token of that session, and must come from the service's own page", async () => {
    const { records, firewall } = rig();
    const cookie = await records.begin("1");
    const csrf = (await records.entrance.find({ headers: { cookie }, from: "" }))?.csrf ?? "";
    const another = await records.sessions.find((await records.begin("1")).split("=")[1] ?? "");
    const host = "127.0.0.1:8443";
    const origin = `https://${host}`;
    const kindOf = async (method: string, headers: Readonly<Record<string, string>>) =>
      (await sessionOf(firewall.entrance, { method, headers: { cookie, host, ...headers }, from: "" })).kind;
    expect(await kindOf("GET", {})).toBe("session");
    expect(await kindOf("POST", { origin })).toBe("forged");
    expect(await kindOf("POST", { origin, "x-csrf-token": `${csrf}x` })).toBe("forged");
    expect(await kindOf("POST", { origin, "x-csrf-token": another?.csrf ?? "" })).toBe("forged");
    expect(await kindOf("POST", { origin: "https://127.0.0.1:8053", "x-csrf-token": csrf })).toBe("forged");
    expect(await kindOf("DELETE", { origin, "x-csrf-token": csrf })).toBe("session");
  });
});

describe("signing out", () => {
  it("ends every session of the browser, wherever it began, and none of another browser", async () => {
    const { records, firewall, shared } = rig();
    let ends = 0;
    shared.onEnd(() => {
      ends += 1;
    });
    const both = `${await records.begin("1")}; ${await firewall.begin("anna")}`;
    const other = await records.begin("1");
    expect(await firewall.call("POST", "/console/sign-out", both)).toMatchObject({ status: 204 });
    expect([await records.who(both), await firewall.who(both)]).toEqual([undefined, undefined]);
    expect(await firewall.who(other)).toBe("root");
    expect(ends).toBe(1);
  });

  it("ends one of the listed sessions, which are the owner's at all services", async () => {
    const { records, firewall, clock } = rig();
    const [lost, own] = [await firewall.begin("root"), await records.begin("1")];
    await firewall.begin("anna");
    clock.now += 1;
    const list = async () => (await records.call("GET", "/console/sessions", own)).sessions;
    expect(await list()).toMatchObject([
      { id: "records-1", current: true },
      { id: "firewall-1", current: false },
    ]);
    expect(await firewall.call("GET", "/console/sessions", own)).toMatchObject({
      sessions: [
        { id: "firewall-1", current: false },
        { id: "records-1", current: true },
      ],
    });
    // The session of another user.
    expect((await records.call("DELETE", "/console/sessions/firewall-2", own)).status).toBe(404);
    expect((await records.call("DELETE", "/console/sessions/firewall-1", own)).status).toBe(204);
    expect([await records.who(lost), await firewall.who(lost)]).toEqual([undefined, undefined]);
    expect(await list()).toHaveLength(1);
  });

  it("by a new password ends the owner's other sessions at all services", async () => {
    const { records, firewall } = rig();
    const [lost, own, anna] = [await firewall.begin("root"), await records.begin("1"), await firewall.begin("anna")];
    expect((await records.call("GET", "/console/session", own)).canReturn).toBe(false);
    const next = "a ship in the harbour";
    expect((await firewall.call("PUT", "/console/password", own, { next })).status).toBe(204);
    expect([await records.who(lost), await firewall.who(own)]).toEqual([undefined, undefined]);
    expect(await firewall.who(anna)).toBe("anna");
    // It was set at the firewall, and is enough to sign in here again.
    expect((await records.call("GET", "/console/session", await records.begin("1"))).canReturn).toBe(true);
  });
});
