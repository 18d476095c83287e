import { beforeAll, describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, callV1, newToken, store } = rrsetsService();

let [ours, theirs] = ["", ""];
beforeAll(async () => {
  [ours, theirs] = [await newToken("ours"), await newToken("theirs")];
});

const create = (token: string, name: string, more: object = {}) =>
  call("POST", "/zones", { name, mode: "primary", ...more }, { token });
const createV1 = (token: string, name: string) => callV1("POST", "/zones", { name }, { token });
const grant = (token: string, zone: string, body: object) => call("POST", `/zones/${zone}/grants`, body, { token });

describe("a zone inside or above another account's zone", () => {
  it("is refused by both APIs, which say what to do but not whose zone it is", async () => {
    expect((await create(theirs, "alpha.test")).status).toBe(201);
    const todo = "ask its owner to grant you the name, or the operator to allow it";
    const message = "_acme-challenge.alpha.test is inside a zone of another account";
    const { status, error, text } = await create(ours, "_acme-challenge.alpha.test");
    expect([status, error.code, error.message]).toEqual([422, "invalid_input", message]);
    expect(error.details.fields).toEqual([{ name: "name", messages: [message, todo] }]);
    expect(text).not.toContain("theirs");
    const v1 = await createV1(ours, "_acme-challenge.alpha.test");
    expect([v1.status, v1.json.error]).toEqual([
      422,
      { message: `422 Unprocessable Entity: invalid: ${message}; ${todo}; `, code: 422 },
    ]);
    await create(theirs, "deep.beta.test");
    for (const refusal of [await create(ours, "beta.test"), await createV1(ours, "beta.test")]) {
      expect(refusal.status).toBe(422);
      expect(refusal.text).toContain("a zone of another account is below beta.test");
      expect(refusal.text).not.toContain("deep");
    }
  });

  it("is refused with records, with a zone file and as a secondary too", async () => {
    await create(theirs, "gamma.test");
    const contents = [
      { rrsets: [{ name: "@", type: "TXT", records: [{ value: '"x"' }] }] },
      { zonefile: '@ 60 TXT "x"' },
      { mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] },
    ];
    for (const more of contents) expect((await create(ours, "www.gamma.test", more)).status).toBe(422);
    expect(await store().zoneHolding("www.gamma.test")).toMatchObject({ name: "gamma.test" });
  });

  it("can be created by the account with a grant, until that is revoked", async () => {
    await create(theirs, "delta.test");
    const given = await grant(theirs, "delta.test", { account: "ours", name: "dev.delta.test" });
    expect([given.status, given.json.grant]).toMatchObject([201, { name: "dev.delta.test", account: "ours" }]);
    const { id, created } = given.json.grant;
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await grant(theirs, "delta.test", { account: "ours", name: "dev.delta.test" })).json.grant.id).toBe(id);
    const list = () => call("GET", "/zones/delta.test/grants", undefined, { token: theirs });
    expect((await list()).json).toEqual({ grants: [given.json.grant] });
    expect((await create(ours, "dev.delta.test")).status).toBe(201);
    expect((await createV1(ours, "a.dev.delta.test")).status).toBe(200);
    expect((await create(ours, "www.delta.test")).status).toBe(422);
    expect((await call("DELETE", `/zones/delta.test/grants/${id}`, undefined, { token: ours })).status).toBe(404);
    expect((await call("DELETE", `/zones/delta.test/grants/${id}`, undefined, { token: theirs })).status).toBe(204);
    expect((await call("DELETE", `/zones/delta.test/grants/${id}`, undefined, { token: theirs })).status).toBe(404);
    expect((await list()).json).toEqual({ grants: [] });
    expect((await call("GET", "/zones/dev.delta.test", undefined, { token: ours })).status).toBe(200);
    await call("DELETE", "/zones/dev.delta.test", undefined, { token: ours });
    await call("DELETE", "/zones/a.dev.delta.test", undefined, { token: ours });
    expect((await create(ours, "dev.delta.test")).status).toBe(422);
  });

  it("can be created above others' zones with the consent of each owner", async () => {
    const third = await newToken("third");
    await create(theirs, "a.eta.test");
    await create(third, "b.eta.test");
    const body = { account: "ours", name: "eta.test" };
    expect((await grant(theirs, "a.eta.test", body)).status).toBe(201);
    expect((await create(ours, "eta.test")).status).toBe(422);
    expect((await grant(third, "b.eta.test", body)).status).toBe(201);
    expect((await create(ours, "eta.test")).status).toBe(201);
    expect((await create(ours, "in.a.eta.test")).status).toBe(422);
  });

  it.each([
    ["a name elsewhere", { account: "ours", name: "other.test" }, "name"],
    ["a name that only looks like one below", { account: "ours", name: "xepsilon.test" }, "name"],
    ["no name", { account: "ours" }, "name"],
    ["a name of one label", { account: "ours", name: "test" }, "name"],
    ["a missing account", { account: "nobody", name: "epsilon.test" }, "account"],
    ["the owner itself", { account: "theirs", name: "epsilon.test" }, "account"],
    ["no account", { name: "epsilon.test" }, "account"],
  ])("is not granted with %s", async (_, body, field) => {
    await create(theirs, "epsilon.test");
    const { status, error } = await grant(theirs, "epsilon.test", body);
    expect([status, error.details.fields[0].name]).toEqual([422, field]);
  });

  it("can be granted by a token that may write the whole zone", async () => {
    await create(theirs, "zeta.test");
    const body = { account: "ours", name: "zeta.test" };
    const scoped = await newToken("theirs", { access: "write", zones: ["zeta.test"] });
    const few = await newToken("theirs", { access: "write", sets: [{ owner: "www" }] });
    const reader = await newToken("theirs", { access: "read" });
    expect((await grant(ours, "zeta.test", body)).status).toBe(404);
    expect((await grant(few, "zeta.test", body)).status).toBe(403);
    expect((await grant(reader, "zeta.test", body)).status).toBe(401);
    expect((await call("GET", "/zones/zeta.test/grants", undefined, { token: few })).status).toBe(403);
    expect((await grant(scoped, "zeta.test", body)).status).toBe(201);
  });
});

describe("a name that no single account should own", () => {
  it.each([
    ["co.uk", /co\.uk is a public suffix.*ask the operator to allow this one/s],
    ["github.io", /public suffix/],
    ["example.net", /example\.net is reserved for the nameservers of this service/],
    ["ns1.example.net", /nameservers/],
    ["api.service.test", /api\.service\.test is reserved for the name of this service/],
    ["service.test", /the name of this service/],
  ])("%s is refused by both APIs", async (name, words) => {
    for (const refusal of [await create(ours, name), await createV1(ours, name)]) {
      expect(refusal.status).toBe(422);
      expect(refusal.text).toMatch(words);
    }
  });

  it("can be created by the operator's account if it holds the name of the service", async () => {
    expect((await create(await newToken("main"), "service.test")).status).toBe(201);
    expect((await create(ours, "api.service.test")).text).toContain("inside a zone of another account");
  });

  it("can be created with the operator's permission, by that account only", async () => {
    const account = (await store().ensureAccount("ours", 1)).id;
    await store().addGrant({ zone: undefined, account, name: "co.uk", actor: "operator", created: 1 });
    expect((await create(theirs, "co.uk")).status).toBe(422);
    expect((await create(ours, "co.uk")).status).toBe(201);
  });

  it.each(["home.lan", "corp.internal", "home.arpa", "10.in-addr.arpa", "www.example.net"])(
    "does not include %s, which can be created",
    async (name) => {
      expect((await create(ours, name)).status).toBe(201);
    },
  );
});
