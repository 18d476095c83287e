import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";
import type { Scope } from "../../../core/may.ts";
import { challengePlace } from "./acme-challenge.ts";

const owner = "_acme-challenge.www";
const scope: Scope = { access: "write", zones: ["example.org"], sets: [{ owner, types: ["TXT"] }] };
const value = (letter: string) => letter.repeat(43);

let rig: Awaited<ReturnType<typeof remoteCallers>>;
let token: string;
const actor = { account: 1, label: "test", scope: { access: "write" } as const };
beforeEach(async () => {
  rig = await remoteCallers(100, {}, ["acme"]);
  token = await rig.newToken(scope);
  await rig.service.createZone(actor, { name: "example.org", ttl: 3600 });
});
afterEach(() => rig.close());

const post = async (path: string, body: unknown, headers: Record<string, string>) => {
  const answer = await rig.post(
    path,
    { "content-type": "application/json", ...headers },
    "203.0.113.9",
    JSON.stringify(body),
  );
  return [answer.statusCode, answer.json()] as const;
};
const has = async () => {
  const found = await rig.service.set(actor, { zone: { name: "example.org" }, name: owner, type: "TXT" });
  return found.kind === "done" ? found.set?.records.map(({ rdata }) => rdata.slice(1, 2)).toSorted() : [];
};

describe("httpreq", () => {
  const basic = (secret = token) => ({ authorization: `Basic ${Buffer.from(`lego:${secret}`).toString("base64")}` });
  const call = (kind: string, letter: string, fqdn = `${owner}.example.org.`, secret?: string) =>
    post(`/httpreq/${kind}`, { fqdn, value: value(letter) }, basic(secret));

  it("adds values and removes them, and twice is as good as once", async () => {
    const echo = (letter: string) => [200, { fqdn: `${owner}.example.org.`, value: value(letter) }];
    for (const letter of ["a", "b", "a"]) expect(await call("present", letter)).toEqual(echo(letter));
    expect(await has()).toEqual(["a", "b"]);
    for (const letter of ["a", "a", "b", "z"]) expect(await call("cleanup", letter)).toEqual(echo(letter));
    expect(await has()).toEqual([]);
  });

  it("refuses other names, other values, and tokens that may do more", async () => {
    expect(await call("present", "a", "www.example.org.")).toEqual([403, { error: "the token is for another name" }]);
    expect((await post("/httpreq/present", { fqdn: `${owner}.example.org.`, value: "short" }, basic()))[0]).toBe(400);
    expect((await post("/httpreq/present", { domain: "www.example.org", token: "x", keyAuth: "y" }, basic()))[0]).toBe(
      400,
    );
    expect((await call("present", "a", undefined, await rig.newToken()))[0]).toBe(403);
    expect((await call("present", "a", undefined, "nonsense"))[0]).toBe(401);
    expect(await has()).toEqual([]);
  });
});

describe("acme-dns", () => {
  it("shares a name with clients of the record-set API, whatever their TTLs are: the lowest counts", async () => {
    const target = { zone: { name: "example.org" }, name: owner, type: "TXT" };
    const ttls: unknown[] = [];
    const add = (ttl: number) =>
      rig.service.editSet(actor, target, {
        kind: "add",
        draft: { records: [{ value: `"${ttl}"`, comment: "" }], ttl },
      });
    for (const step of [() => add(300), () => call(value("a")), () => add(120)]) {
      await step();
      const found = await rig.service.set(actor, target);
      ttls.push(found.kind === "done" && [found.set?.ttl, found.set?.records.length]);
    }
    await rig.service.editSet(actor, target, { kind: "delete" });
    expect(ttls).toEqual([
      [300, 1],
      [60, 2],
      [60, 3],
    ]);
  });

  const call = (txt: string, subdomain = owner, secret = token) =>
    post("/acme-dns/update", { subdomain, txt }, { "x-api-user": "anyone", "x-api-key": secret });

  it("keeps the last two values", async () => {
    for (const letter of ["a", "b", "c", "c", "d"]) {
      expect(await call(value(letter))).toEqual([200, { txt: value(letter) }]);
      rig.pass(1_000);
    }
    expect(await has()).toEqual(["c", "d"]);
  });

  it("loses no value of two that come simultaneously", async () => {
    await Promise.all([call(value("a")), call(value("b"))]);
    expect(await has()).toEqual(["a", "b"]);
  });

  it("refuses other names and values, and registers nobody", async () => {
    expect(await call("short")).toEqual([400, { error: "bad_txt" }]);
    expect(await call(value("a"), "other")).toEqual([400, { error: "bad_subdomain" }]);
    expect(
      (await call(value("a"), owner, await rig.newToken({ ...scope, zones: ["example.org", "b.example"] })))[0],
    ).toBe(403);
    expect((await post("/acme-dns/register", {}, {}))[0]).toBe(403);
  });
});

it.each<[string, Scope, boolean]>([
  ["one challenge name", scope, true],
  ["reading only", { ...scope, access: "read" }, false],
  ["any zone", { access: "write", sets: scope.sets ?? [] }, false],
  ["any type", { ...scope, sets: [{ owner }] }, false],
  ["another name", { ...scope, sets: [{ owner: "www", types: ["TXT"] }] }, false],
  ["two names", { ...scope, sets: [...(scope.sets ?? []), { owner: "b", types: ["TXT"] }] }, false],
  ["the whole account", { access: "write" }, false],
])("a token for %s", (_, given, isFine) => {
  expect(challengePlace(given) !== undefined).toBe(isFine);
});
