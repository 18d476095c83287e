import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, newSet, newToken, newZone } = rrsetsService();

const records = [{ value: "192.0.2.1" }];

describe("errors", () => {
  it("400 json_error: the body is not JSON, details null", async () => {
    const zone = await newZone();
    for (const text of ["{", "records=1", "\u0000"]) {
      const { status, json } = await call("POST", `/zones/${zone.id}/rrsets`, undefined, { text });
      expect([status, json.error.code, json.error.details]).toEqual([400, "json_error", null]);
      expect(Object.keys(json)).toEqual(["error"]);
    }
  });

  it("413: a body of more than 1 MiB, except zone files", async () => {
    const zone = await newZone();
    const long = `; ${"x".repeat(1024 * 1024)}`;
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, { name: long });
    expect([status, error.code, error.details]).toEqual([413, "invalid_input", null]);
    const file = await call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile: long });
    expect([file.status, file.error.code]).toEqual([422, "invalid_input"]);
  });

  it("401 token_readonly: a write with a read-only token, whatever it writes to", async () => {
    const { path } = await newSet();
    const token = await newToken("main", { access: "read" });
    const tries = [
      ["POST", `${path}/actions/set_records`],
      ["DELETE", path],
      ["PUT", path],
      ["POST", "/zones/none/rrsets"],
    ];
    for (const [method = "", at = ""] of tries) {
      const { status, error } = await call(method, at, { records }, { token });
      expect([status, error.code]).toEqual([401, "token_readonly"]);
    }
  });

  it("403 forbidden: a token for certain names writes only those", async () => {
    const { zone } = await newSet();
    const token = await newToken("main", {
      access: "write",
      zones: [zone.name],
      sets: [{ owner: "dyn", types: ["A"] }],
    });
    const add = (at: string) =>
      call("POST", `/zones/${zone.name}/rrsets/${at}/actions/add_records`, { records }, { token });
    expect((await add("dyn/A")).status).toBe(201);
    const refused = await add("other/A");
    expect([refused.status, refused.error.code]).toEqual([403, "forbidden"]);
    expect((await call("POST", `/zones/${zone.name}/actions/change_ttl`, { ttl: 600 }, { token })).status).toBe(403);
    const list = await call("GET", `/zones/${zone.name}/rrsets`, undefined, { token });
    expect(list.json.rrsets.map((set: { id: string }) => set.id)).toEqual(["dyn/A"]);
    expect((await call("GET", `/zones/${zone.name}/rrsets/www/A`, undefined, { token })).status).toBe(404);
  });

  it("404 not_found: a zone, a set, an action, a path; also what belongs to another account", async () => {
    const { zone, path } = await newSet();
    const other = await newToken("somebody else");
    const narrow = await newToken("main", { access: "write", zones: ["elsewhere.example"] });
    const action = (await call("POST", `${path}/actions/change_ttl`, { ttl: 600 })).json.action.id;
    const tries = [
      ["/zones/none.example", undefined, "Zone not found"],
      ["/zones/999999", undefined, "Zone not found"],
      [`/zones/${zone.id}`, other, "Zone not found"],
      [`/zones/${zone.name}`, narrow, "Zone not found"],
      [`/zones/${zone.name}/rrsets`, other, "Zone not found"],
      [`/zones/${zone.name}/rrsets/none/A`, undefined, "RRSet not found"],
      [`/zones/${zone.name}/rrsets/www/NONE`, undefined, "RRSet not found"],
      ["/actions/999999999", undefined, "action not found"],
      ["/actions/x", undefined, "action not found"],
      [`/actions/${action}`, other, "action not found"],
      [`/actions/${action}`, narrow, "action not found"],
      ["/nowhere", undefined, "there is no such path"],
      ["/zones/%ff", undefined, "there is no such path"],
      [`/zones/${"x".repeat(400)}`, undefined, "there is no such path"],
    ] as const;
    for (const [at, token, message] of tries) {
      const { status, json } = await call("GET", at, undefined, token === undefined ? {} : { token });
      expect([at, status, json]).toEqual([at, 404, { error: { code: "not_found", message, details: null } }]);
    }
  });

  it("409 uniqueness_error: the zone or the set already exists; details name the field", async () => {
    const { zone } = await newSet();
    for (const [at, body] of [
      ["/zones", { name: zone.name, mode: "primary" }],
      [`/zones/${zone.id}/rrsets`, { name: "www", type: "A", records }],
    ] as const) {
      const { status, error } = await call("POST", at, body);
      expect([status, error.code, error.details]).toEqual([409, "uniqueness_error", { fields: [{ name: "name" }] }]);
    }
  });

  it("422 invalid_input: all faults together, each with its field and messages", async () => {
    const zone = await newZone();
    const body = { name: 1, ttl: 59, type: "NOPE", records: [{ comment: 5 }, { value: "192.0.2.1" }], labels: [] };
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([status, error.code]).toEqual([422, "invalid_input"]);
    const fields = Object.fromEntries(
      error.details.fields.map(({ name, messages }: { name: string; messages: string[] }) => [name, messages]),
    );
    expect(fields).toEqual({
      ttl: ["is too small"],
      labels: ["must be an object with string values"],
      name: ["must be a string"],
      type: ["is not a supported record type"],
      "records[0].comment": ["must be a string"],
      "records[0].value": ["is missing"],
    });
    expect(error.message).toMatch(/^ttl is too small; /);
  });

  it.each([
    ["labels of a zone", { labels: Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`!${i}`, 1])) }],
    [
      "values of a zone's sets",
      {
        rrsets: Array.from({ length: 150 }, () => ({
          name: "a",
          type: "SVCB",
          records: Array.from({ length: 50 }, () => ({ value: `1 . ${"a ".repeat(20)}` })),
        })),
      },
    ],
  ])("422 invalid_input: very many faults, in %s", async (_, wrong) => {
    const { status, error } = await call("POST", "/zones", { name: "many.example", mode: "primary", ...wrong });
    expect([status, error.code]).toEqual([422, "invalid_input"]);
  });

  it("422 invalid_input: a comment with a control character, which could end its line in a zone file", async () => {
    const { zone, path } = await newSet();
    for (const comment of ["a\nevil IN A 192.0.2.66", "a\r", "a\u2028b", "\u001b[2J", "\0"]) {
      const records = [{ value: "192.0.2.1", comment }];
      const fields = [{ name: "records[0].comment", messages: ["has a line break or another control character"] }];
      for (const [at, body] of [
        [`/zones/${zone.id}/rrsets`, { name: "new", type: "A", records }],
        [`${path}/actions/set_records`, { records }],
        [`${path}/actions/update_records`, { records }],
      ] as const) {
        const { status, error } = await call("POST", at, body);
        expect([status, error.details.fields]).toEqual([422, fields]);
      }
    }
    expect(
      (await call("POST", `${path}/actions/set_records`, { records: [{ value: "192.0.2.1", comment: "a\tb" }] }))
        .status,
    ).toBe(201);
  });

  it("422 invalid_input: a comment that is not valid Unicode, which would break lists for some clients", async () => {
    const zone = await newZone();
    const body = { name: "www", type: "A", records: [{ value: "192.0.2.1", comment: "a\ud800b" }] };
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([status, error.details.fields]).toEqual([
      422,
      [{ name: "records[0].comment", messages: ["is not valid Unicode"] }],
    ]);
  });

  it.each([
    ["a body that is not an object", [], "body"],
    ["an unknown mode", { name: "x.example", mode: "tertiary" }, "mode"],
    ["no mode", { name: "x.example" }, "mode"],
    ["a TTL that is not a number", { name: "x.example", mode: "primary", ttl: "3600" }, "ttl"],
    ["a TTL that is too large", { name: "x.example", mode: "primary", ttl: 2_147_483_648 }, "ttl"],
    ["a name in Unicode", { name: "größe.example", mode: "primary" }, "name"],
    ["a name of one label", { name: "example", mode: "primary" }, "name"],
  ])("422 invalid_input: %s", async (_, body, field) => {
    const { status, error } = await call("POST", "/zones", body);
    expect([status, error.code, error.details.fields[0].name]).toEqual([422, "invalid_input", field]);
  });

  it.each([
    ["no records", []],
    ["more than 50 records", Array.from({ length: 51 }, (_, i) => ({ value: `192.0.2.${i}` }))],
    ["records that are not a list", { value: "192.0.2.1" }],
    ["null", null],
  ])("422 invalid_input: %s, on every call", async (_, wrong) => {
    const { zone, path } = await newSet();
    for (const verb of ["set", "add", "remove", "update"]) {
      const { status, error } = await call("POST", `${path}/actions/${verb}_records`, { records: wrong });
      expect([status, error.code, error.details.fields[0].name]).toEqual([422, "invalid_input", "records"]);
    }
    expect((await call("POST", `/zones/${zone.id}/rrsets`, { name: "a", type: "A", records: wrong })).status).toBe(422);
    expect((await call("PUT", `${path}/records`, { records: wrong })).status).toBe(422);
  });

  it.each(["www.ZONE", "ZONE", "www.ZONE.", "www.", ""])("422 invalid_input: the name %s", async (name) => {
    const zone = await newZone();
    const body = { name: name.replace("ZONE", zone.name), type: "A", records };
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([status, error.code, error.details.fields[0].name]).toEqual([422, "invalid_input", "name"]);
  });

  it.each(["mode=both", "sort=x"])("422 invalid_input: the query %s", async (query) => {
    expect((await call("GET", `/zones?${query}`)).error.code).toBe("invalid_input");
  });

  it("422 invalid_input: unknown types and states in queries, and /actions without an id", async () => {
    const zone = await newZone();
    for (const at of [
      `/zones/${zone.id}/rrsets?type=NOPE`,
      `/zones/${zone.id}/rrsets?type=TYPE1`,
      "/zones/actions?status=done",
      "/actions",
      "/actions?id=x",
    ]) {
      expect([at, (await call("GET", at)).status]).toEqual([at, 422]);
    }
  });

  it("423 protected, and never `locked`: overlapping writes queue", async () => {
    const { path, values } = await newSet("TXT", ['"first"']);
    const adds = Array.from({ length: 40 }, (_, i) =>
      call("POST", `${path}/actions/add_records`, { records: [{ value: `"v${i}"` }] }),
    );
    expect(new Set((await Promise.all(adds)).map((answer) => answer.status))).toEqual(new Set([201]));
    expect(await values()).toHaveLength(41);
    await call("POST", `${path}/actions/change_protection`, { change: true });
    const { status, error } = await call("DELETE", path);
    expect([status, error.code]).toEqual([423, "protected"]);
  });

  it("423 protected: also for set_records with the records that are there", async () => {
    const { path } = await newSet("TXT", ['"first"']);
    await call("POST", `${path}/actions/change_protection`, { change: true });
    const same = { records: [{ value: '"first"' }] };
    const { status, error } = await call("POST", `${path}/actions/set_records`, same);
    expect([status, error.code]).toEqual([423, "protected"]);
    expect((await call("POST", `${path}/actions/change_protection`, { change: false })).status).toBe(201);
    expect((await call("POST", `${path}/actions/set_records`, same)).status).toBe(201);
  });
});

describe("errors that a healthy service does not have", () => {
  let callers: Awaited<ReturnType<typeof remoteCallers>>;
  let authorization: string;
  beforeAll(async () => {
    callers = await remoteCallers(2, {
      zones: async () => {
        throw new Error("the disk is gone");
      },
    });
    authorization = `Bearer ${await callers.newToken()}`;
  });
  afterAll(async () => await callers.close());

  it("500 server_error: without internal details, which are in the log", async () => {
    const answer = await callers.call("/v1/zones", { authorization }, "127.0.0.1");
    expect(answer.statusCode).toBe(500);
    expect(answer.json().error).toMatchObject({ code: "server_error", details: null });
    expect(answer.body).not.toMatch(/disk/);
    expect(callers.log()).toMatch(/disk is gone/);
  });

  it("429 rate_limit_exceeded: with Retry-After and the remaining calls", async () => {
    const ask = () => callers.call("/v1/zones/none.example", { authorization }, "192.0.2.7");
    expect((await ask()).headers).toMatchObject({ "ratelimit-limit": "2", "ratelimit-remaining": "1" });
    await ask();
    const { statusCode, headers, json } = await ask();
    expect([statusCode, headers["retry-after"], headers["ratelimit-remaining"]]).toEqual([429, "30", "0"]);
    expect(json().error).toEqual({ code: "rate_limit_exceeded", message: "rate limit exceeded", details: null });
  });
});
