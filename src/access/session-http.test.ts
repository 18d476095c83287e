import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { sqliteSql } from "../lib/sqlite/run-sql.ts";
import { createSessions } from "./session.ts";
import { createSignIn } from "./session-http.ts";
import { createSessionStore, sessionTables } from "./session-store.ts";
import { Entrance } from "./shared-sign-in.ts";

it("at most two passwords are checked at the same time, because each takes 128 MB; a third request must retry", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const sessions = createSessions(createSessionStore(sqliteSql(database)), () => 1);
  const waiting: (() => void)[] = [];
  const check = () => new Promise<string>((resolve) => waiting.push(() => resolve("anna")));
  const people = {
    check,
    hasName: async () => true,
    describe: async () => undefined,
    setPassword: async () => undefined,
  };
  const owner = async () => undefined;
  const entrance = new Entrance({ service: "records", sessions, people, owner });
  const signIn = createSignIn({ entrance, people, now: () => 1, note: () => undefined });
  const headers = { origin: "https://moor.example", host: "moor.example" };
  const body = JSON.stringify({ name: "anna", password: "a ship in the harbour" });
  const enter = () => signIn({ method: "POST", path: "/console/sign-in", headers, body, from: "192.0.2.1" });
  const both = [enter(), enter()];
  const third = await enter();
  expect([third?.status, third?.headers["retry-after"]]).toEqual([429, "1"]);
  expect(third?.body).toContain("Try again in a second");
  for (const go of waiting) go();
  expect((await Promise.all(both)).map((answer) => answer?.status)).toEqual([204, 204]);
});

it("too many wrong passwords delay the right one until the time in Retry-After, and nobody else", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const clock = { now: 1 };
  const sessions = createSessions(createSessionStore(sqliteSql(database)), () => clock.now);
  const people = {
    check: async (name: string, password: string) => (password === "a ship in the harbour" ? name : undefined),
    hasName: async () => true,
    describe: async () => undefined,
    setPassword: async () => undefined,
  };
  const entrance = new Entrance({ service: "records", sessions, people, owner: async () => undefined });
  const signIn = createSignIn({ entrance, people, now: () => clock.now, note: () => undefined });
  const headers = { origin: "https://moor.example", host: "moor.example" };
  const enter = (name: string, password: string) => {
    const body = JSON.stringify({ name, password });
    return signIn({ method: "POST", path: "/console/sign-in", headers, body, from: "192.0.2.1" });
  };
  for (let guess = 0; guess < 5; guess++) expect((await enter("anna", `guess ${guess}`))?.status).toBe(401);
  const held = await enter("anna", "a ship in the harbour");
  expect(held?.status).toBe(429);
  const wait = Number(held?.headers["retry-after"]) * 1_000;
  expect(wait).toBeGreaterThan(0);
  expect((await enter("ben", "wrong"))?.status).toBe(401);
  clock.now += wait - 1;
  expect((await enter("anna", "a ship in the harbour"))?.status).toBe(429);
  clock.now += 1;
  expect((await enter("anna", "a ship in the harbour"))?.status).toBe(204);
});

it("a name that no user has is not noted: people type passwords into the wrong field", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const sessions = createSessions(createSessionStore(sqliteSql(database)), () => 1);
  const people = {
    check: async () => undefined,
    hasName: async (name: string) => name === "anna",
    describe: async () => undefined,
    setPassword: async () => undefined,
  };
  const entrance = new Entrance({ service: "records", sessions, people, owner: async () => undefined });
  const noted: unknown[] = [];
  const note = (what: string, fields: object) => void noted.push({ what, ...fields });
  const signIn = createSignIn({ entrance, people, now: () => 1, note });
  const headers = { origin: "https://moor.example", host: "moor.example" };
  const enter = (name: string) => {
    const body = JSON.stringify({ name, password: "x" });
    return signIn({ method: "POST", path: "/console/sign-in", headers, body, from: "192.0.2.1" });
  };
  expect((await enter("anna"))?.status).toBe(401);
  expect((await enter("a ship in the harbour"))?.status).toBe(401);
  const refused = { what: "sign-in refused", because: "name or password is wrong", from: "192.0.2.1" };
  expect(noted).toEqual([{ ...refused, name: "anna" }, refused]);
});
