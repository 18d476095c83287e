import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cheapPasswords } from "../../../test/rig/cheap-passwords.ts";
import type { TokenPage } from "../../contract/console.ts";
import { parseNetwork } from "../../core/addresses/network.ts";
import { usualQuotas } from "../../core/quotas.ts";
import { createLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../start.ts";

/** What one account may have and send, as people meet it in the console. */

const at = Date.UTC(2026, 10, 15);
let folder: string;
let service: RunningRecords;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-quotas-"));
  service = await startRecords({
    dataFolder: folder,
    names: [],
    nameservers: ["ns1.example.net"],
    plainHttp: true,
    proxies: { networks: [parseNetwork("127.0.0.1")].flatMap((each) => each ?? []), header: "x-forwarded-for" },
    listen: { host: "127.0.0.1", port: 0 },
    passwordCost: cheapPasswords,
    now: () => at,
    callsPerMinute: { caller: 20, account: 30 },
    recordLimits: {
      zone: 1_000,
      account: 1_000,
      set: 100,
      quotas: { ...usualQuotas, tokens: 60, zones: 1, providers: 0, sessions: 4 },
    },
    log: createLog({ format: "json", write: () => undefined }),
  });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

type Headers = Readonly<Record<string, string>>;
const own: Headers = {};
const fromOutside: Headers = { "x-forwarded-for": "203.0.113.7" };
const call = (method: string, path: string, headers: Headers, body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: {
      origin: service.url.replace("http:", "https:"),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function signIn(account: string): Promise<Headers> {
  const link = new URL(await service.createSignInLink(account)).hash.slice(1);
  const entered = await call("POST", "/console/sign-in-link", own, { link });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { csrf } = (await (await call("GET", "/console/session", { cookie })).json()) as { csrf: string };
  return { cookie, "x-csrf-token": csrf };
}

const newToken = (headers: Headers, name = "t") =>
  call("POST", "/console/tokens", headers, { name, scope: { access: "read" } });

it("a token, a zone and a provider too many are refused, and the console gets a message that says what to do", async () => {
  const session = await signIn("full");
  const made = await Promise.all(Array.from({ length: 61 }, () => newToken(session)));
  const refused = made.filter(({ status }) => status !== 201);
  expect(refused.map(({ status }) => status)).toEqual([422]);
  const todo = "revoke those that nobody uses, or ask the operator of this service for more (--quota tokens=NUMBER)";
  expect(await refused[0]?.json()).toEqual({
    error: { message: `an account may have at most 60 tokens in force; ${todo}` },
  });
  const zone = (name: string) => call("POST", "/v1/zones", session, { name, mode: "primary" });
  expect((await zone("one.test")).status).toBe(201);
  const second = await zone("two.test");
  expect([second.status, await second.json()]).toMatchObject([
    403,
    { error: { code: "resource_limit_exceeded", message: expect.stringContaining("at most 1 zones") } },
  ]);
  const provider = { name: "first", kind: "desec", token: "t".repeat(28) };
  const third = await call("POST", "/v1/providers", session, provider);
  expect([third.status, await third.text()]).toEqual([422, expect.stringContaining("at most 0 providers")]);
});

it("tokens are listed in pages, the newest first, without the revoked ones unless they are asked for", async () => {
  const session = await signIn("lister");
  for (let i = 0; i < 53; i += 1) await newToken(session, `t${i}`);
  const list = async (query: string) =>
    (await (await call("GET", `/console/tokens${query}`, session)).json()) as TokenPage;
  const names = async (query: string) => (await list(query)).tokens.map(({ name }) => name);
  expect(await list("")).toMatchObject({ pages: 2, revoked: 0 });
  expect((await names("")).slice(0, 2)).toEqual(["t52", "t51"]);
  expect(await names("?page=2")).toEqual(["t2", "t1", "t0"]);
  const newest = (await list("")).tokens.slice(0, 3);
  for (const { id } of newest) await call("DELETE", `/console/tokens/${id}`, session);
  expect(await list("")).toMatchObject({ pages: 1, revoked: 3 });
  expect((await names("?page=7"))[0]).toBe("t49");
  expect((await names("?all")).slice(0, 4)).toEqual(["t52", "t51", "t50", "t49"]);
  expect((await list("?all&page=2")).tokens).toHaveLength(3);
});

it("a session has a limit of calls, and all sessions and tokens of an account together another one", async () => {
  const sessions = [await signIn("busy"), await signIn("busy")] as const;
  const { secret } = (await (await newToken(sessions[0])).json()) as { secret: string };
  const other = await signIn("calm");
  const statuses = async (count: number, path: string, headers: Headers) => {
    const answers = [];
    for (let i = 0; i < count; i += 1) answers.push(await call("GET", path, { ...headers, ...fromOutside }));
    expect(answers.every(({ status, headers: got }) => status === 200 || Number(got.get("retry-after")) > 0)).toBe(
      true,
    );
    return answers.filter(({ status }) => status === 200).length;
  };
  const paths = ["/console/tokens", "/console/session", "/console/overview", "/v1/zones"] as const;
  let passed = 0;
  for (const path of paths) passed += await statuses(8, path, sessions[0]);
  expect(passed).toBe(20);
  const others =
    (await statuses(12, "/v1/zones", sessions[1])) +
    (await statuses(12, "/v1/zones", { authorization: `Bearer ${secret}` }));
  expect(passed + others).toBe(30);
  expect(await statuses(1, "/v1/zones", other)).toBe(1);
});

it("a session too many ends the one that was not used for longest", async () => {
  const sessions = [];
  for (let i = 0; i < 5; i += 1) sessions.push(await signIn("many"));
  const statuses = await Promise.all(
    sessions.map(async (each) => (await call("GET", "/console/session", each)).status),
  );
  expect(statuses).toEqual([401, 200, 200, 200, 200]);
});
