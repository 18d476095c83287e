import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cheapPasswords } from "../../../test/rig/cheap-passwords.ts";
import { readEvents } from "../../../test/rig/records/event-reader.ts";
import { parseNetwork } from "../../core/addresses/network.ts";
import { createLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../start.ts";

/** The console's own calls, without a browser; as behind a proxy, so that plain HTTP is enough. */

const proxies = {
  networks: [parseNetwork("127.0.0.1")].flatMap((network) => network ?? []),
  header: "x-forwarded-for",
} as const;

let folder: string;
let service: RunningRecords;
let log = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-http-console-"));
  await writeFile(join(folder, "records.html"), "<p>page</p>");
  service = await startRecords({
    dataFolder: folder,
    names: [],
    nameservers: ["ns1.example.net"] as const,
    plainHttp: true,
    proxies,
    listen: { host: "127.0.0.1", port: 0 },
    passwordCost: cheapPasswords,
    pages: folder,
    log: createLog({
      format: "json",
      write: (line) => {
        log += line;
      },
    }),
  });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const behindProxy = () => service.url.replace("http:", "https:");
const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method,
    headers: { origin: behindProxy(), ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** What the page sends after sign-in. */
async function signIn(account: string): Promise<Record<string, string>> {
  const link = new URL(await service.createSignInLink(account)).hash.slice(1);
  const entered = await call("POST", "/console/sign-in-link", { link });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { csrf } = (await (await call("GET", "/console/session", undefined, { cookie })).json()) as { csrf: string };
  return { cookie, "x-csrf-token": csrf };
}

it("the console works on the machine itself without a proxy, and not from another name without TLS", async () => {
  const origin = service.url;
  const link = new URL(await service.createSignInLink("main")).hash.slice(1);
  expect((await call("POST", "/console/sign-in-link", { link }, { origin: "http://console.example" })).status).toBe(
    403,
  );
  const entered = await call("POST", "/console/sign-in-link", { link }, { origin });
  expect(entered.status).toBe(204);
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { csrf } = (await (await call("GET", "/console/session", undefined, { cookie })).json()) as { csrf: string };
  const headers = { cookie, "x-csrf-token": csrf, origin };
  expect((await call("POST", "/v1/zones", { name: "plain.test", mode: "primary" }, headers)).status).toBe(201);
  expect((await call("POST", "/console/sign-out", undefined, headers)).status).toBe(204);
});

it.for([
  ...["/zones/", "/zones/Harbour.example./", "/zones/harbour.example/history/", "/tokens/", "/account/"],
  ...["/zones/0%2F25.2.0.192.in-addr.arpa", "/zones/0%2F25.2.0.192.in-addr.arpa/settings", "/zones/%25"],
])("the page is at %s too", async (path) => {
  const answer = await call("GET", path);
  expect([answer.status, await answer.text()]).toEqual([200, "<p>page</p>"]);
});

it("no page is below a zone's sections", async () => {
  expect((await call("GET", "/zones/harbour.example/history/more")).status).toBe(404);
});

describe("the console's calls", () => {
  it.for([
    ["GET", "/console/session"],
    ["GET", "/console/sessions"],
    ["DELETE", "/console/sessions/1"],
    ["GET", "/console/tokens"],
    ["POST", "/console/tokens"],
    ["PUT", "/console/password"],
    ["POST", "/console/sign-out"],
    ["GET", "/console/anything"],
  ] as const)("%s %s requires a session", async ([method, path]) => {
    expect((await call(method, path)).status).toBe(401);
  });

  it("create a token that works, never show it again, and log no secret", async () => {
    const headers = await signIn("main");
    const made = await call("POST", "/console/tokens", { name: "router", scope: { access: "read" } }, headers);
    expect(made.status).toBe(201);
    const { secret } = (await made.json()) as { secret: string };
    expect((await call("GET", "/v1/zones", undefined, { authorization: `Bearer ${secret}` })).status).toBe(200);
    const listed = await (await call("GET", "/console/tokens", undefined, headers)).text();
    expect(listed).toContain("router");
    for (const text of [listed, log]) expect(text).not.toContain(secret);
    expect(log).toContain("token created");
  });

  it.for([
    ["GET", "/v1/zones", 200],
    ["GET", "/v1/nothing", 404],
    ["PATCH", "/v1/zones", 405],
    ["GET", "/v1/zones/nothing.example", 404],
    ["POST", "/v1/zones", 400],
  ] as const)("are answered like those with a token, as indented JSON: %s %s", async ([method, path, status]) => {
    const headers = await signIn("main");
    const made = await call(
      "POST",
      "/console/tokens",
      { name: "any", scope: { access: "write" }, allZones: true },
      headers,
    );
    const { secret } = (await made.json()) as { secret: string };
    const answer = async (by: Record<string, string>) => {
      const got = await fetch(service.url + path, {
        method,
        headers: { origin: behindProxy(), ...by },
        ...(method === "POST" && { body: "{" }),
      });
      expect([got.status, got.headers.get("content-type")]).toEqual([status, "application/json; charset=utf-8"]);
      return await got.text();
    };
    const toToken = await answer({ authorization: `Bearer ${secret}` });
    expect(toToken).toMatch(/^\{\n {4}"/);
    expect(await answer(headers)).toBe(toToken);
  });

  it("show the records of a secondary zone, which the record-set API hides from its clients, and change none", async () => {
    const headers = await signIn("main");
    const zone = { name: "second.example", mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] };
    expect((await call("POST", "/v1/zones", zone, headers)).status).toBe(201);
    const made = await call(
      "POST",
      "/console/tokens",
      { name: "client", scope: { access: "write" }, allZones: true },
      headers,
    );
    const { secret } = (await made.json()) as { secret: string };
    const of = "/v1/zones/second.example/rrsets";
    for (const path of [of, `${of}/@/SOA`]) {
      expect([path, (await call("GET", path, undefined, headers)).status]).toEqual([path, 200]);
      expect((await call("GET", path, undefined, { authorization: `Bearer ${secret}` })).status).toBe(422);
    }
    const set = { name: "www", type: "A", records: [{ value: "192.0.2.1" }] };
    expect((await call("POST", of, set, headers)).status).toBe(422);
  });

  it("refuse an invalid token request, and bodies that are not JSON or too long", async () => {
    const headers = await signIn("main");
    expect((await call("POST", "/console/tokens", { name: "", scope: {} }, headers)).status).toBe(422);
    const scope = { access: "read", zones: ["a..b"], networks: ["10.0.0.300"] };
    const strange = await call("POST", "/console/tokens", { name: "router", scope }, headers);
    expect(await strange.json()).toEqual({
      error: {
        message:
          "zones[0]: this is not a zone name; use a name such as example.org. " +
          "networks[0]: this is not a network; use one such as 192.0.2.0/24",
      },
    });
    const form = { ...headers, "content-type": "text/plain", origin: behindProxy() };
    expect((await fetch(`${service.url}/console/tokens`, { method: "POST", headers: form, body: "x" })).status).toBe(
      415,
    );
    expect((await call("POST", "/console/tokens", { name: "x".repeat(70_000) }, headers)).status).toBe(413);
  });

  it("require a long password, and the current one before a new one", async () => {
    const headers = await signIn("sailor");
    for (const next of ["nine char", "x".repeat(1_001)]) {
      const refused = await call("PUT", "/console/password", { next }, headers);
      expect(refused.status).toBe(422);
      expect(await refused.text()).toContain("12 to 1000 characters");
    }
    const common = await call("PUT", "/console/password", { next: "sailor-password-12" }, headers);
    expect([common.status, await common.text()]).toEqual([422, expect.stringContaining("easy to guess")]);
    const set = await call("PUT", "/console/password", { next: "long enough for all" }, headers);
    expect(set.status).toBe(204);
    expect((await call("GET", "/console/session", undefined, headers)).status).toBe(401);
    const again = await signIn("sailor");
    expect((await call("PUT", "/console/password", { next: "another long one" }, again)).status).toBe(422);
    const right = { current: "long enough for all", next: "another long one" };
    expect((await call("PUT", "/console/password", right, again)).status).toBe(204);
    const entered = await call("POST", "/console/sign-in", { name: "sailor", password: "another long one" });
    expect(entered.status).toBe(204);
  });

  it("slow down guesses from the address that the proxy reports, and no others", async () => {
    const guess = (from: string) =>
      call(
        "POST",
        "/console/sign-in",
        { name: "main", password: "guess" },
        { "x-forwarded-for": `198.51.100.99, ${from}` },
      );
    for (let i = 0; i < 5; i++) expect((await guess("192.0.2.1")).status).toBe(401);
    expect((await guess("192.0.2.1")).status).toBe(429);
    expect((await guess("192.0.2.2")).status).toBe(401);
  });

  it("end the page's stream of changes with the session: by signing out, from another session, or with a new password", async () => {
    const ends = {
      "sign-out": (own: Record<string, string>) => call("POST", "/console/sign-out", {}, own),
      "another session": async () => {
        const other = await signIn("harbour");
        const { sessions } = (await (await call("GET", "/console/sessions", undefined, other)).json()) as {
          sessions: { id: number; current: boolean }[];
        };
        const id = sessions.find(({ current }) => !current)?.id;
        return await call("DELETE", `/console/sessions/${id}`, undefined, other);
      },
      "a new password": async () =>
        call("PUT", "/console/password", { next: "anchors aweigh, all" }, await signIn("harbour")),
    };
    for (const end of Object.values(ends)) {
      const own = await signIn("harbour");
      const reader = await readEvents(`${service.url}/v1/events`, { cookie: own.cookie ?? "" });
      await reader.until((each) => each.lastId() !== undefined);
      expect((await end(own)).status).toBe(204);
      await reader.until((each) => each.ended());
      // Not only at the next heartbeat, which also checks.
      expect(reader.text()).not.toContain("still here");
    }
  });

  it("can use the record-set API with the session, where a token takes precedence", async () => {
    const headers = await signIn("main");
    expect((await call("GET", "/v1/zones", undefined, headers)).status).toBe(200);
    expect((await call("GET", "/v1/zones", undefined, { ...headers, authorization: "Bearer wrong" })).status).toBe(401);
    const zone = { name: "example.org", mode: "primary" };
    expect((await call("POST", "/v1/zones", zone, { cookie: headers.cookie ?? "" })).status).toBe(401);
    expect((await call("POST", "/v1/zones", zone, headers)).status).toBe(201);
    const history = await (await call("GET", "/v1/zones/example.org/history", undefined, headers)).text();
    expect(history).toContain("main (console)");
  });
});
