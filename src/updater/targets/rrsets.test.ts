import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { firstRecords } from "../../../test/rig/updater/loop.ts";
import {
  type Asked,
  type Reply,
  setService,
  startServer,
  type TestRecord,
  type TestServer,
} from "../../../test/rig/updater/services.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import { createRRsetsTarget } from "./rrsets.ts";
import type { RecordTarget, ReplaceRequest } from "./target.ts";
import type { TokenTarget } from "./token-target.ts";

let server: TestServer;
let target: RecordTarget;
let records: TestRecord[];
let instead: (asked: Asked) => Reply | undefined;
const never = new AbortController().signal;
const started = Date.parse("2026-03-02T08:16:02.345Z");

beforeEach(async () => {
  records = firstRecords();
  instead = () => undefined;
  server = await startServer((asked) => setService(records, (question) => instead(question))(asked));
  await openTarget();
});
afterEach(async () => {
  target.close();
  await server.close();
});

async function openTarget({ path = "", total = 15_000, now = running() } = {}) {
  const config: TokenTarget = {
    name: "dns",
    api: "rrsets",
    url: new URL(server.url + path),
    trust: { kind: "system" },
    token: () => "t0ken",
  };
  const waiting = { first: 10, longest: 40, total };
  target = createRRsetsTarget(config, await createHttpClient(config), now, waiting);
}

function running(): () => number {
  const since = performance.now();
  return () => started + performance.now() - since;
}

const request: ReplaceRequest = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };
const asked = () => server.asked.map(({ method, path }) => `${method} ${path}`);
const action = (status: string, error: unknown = null) => ({ action: { id: 5001, status, error } });
const writes = (reply: Reply) => (question: Asked) => (question.method === "POST" ? reply : undefined);

describe("replacing a set", () => {
  it("sends one record with the time as its comment, and reads the set back", async () => {
    target.close();
    await openTarget({ now: () => started });
    expect(await target.replace(request, never)).toEqual({ kind: "done", recordId: "example.org/home/A", ttl: 77 });
    expect(asked()).toEqual([
      "POST /v1/zones/example.org/rrsets/home/A/actions/set_records",
      "GET /v1/zones/example.org/rrsets/home/A",
    ]);
    expect(JSON.parse(server.asked[0]?.body ?? "")).toEqual({
      records: [{ value: "9.9.9.9", comment: "2026-03-02 08:16:02 (UTC)" }],
    });
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: "Bearer t0ken",
      "content-type": "application/json",
    });
  });

  it("uses the public service's URL, which ends with /v1, unchanged", async () => {
    target.close();
    await openTarget({ path: "/v1" });
    await target.replace(request, never);
    expect(asked()[0]).toBe("POST /v1/zones/example.org/rrsets/home/A/actions/set_records");
  });

  it("names the apex as the API does", async () => {
    records.push({ id: "apex", type: "A", name: "@", value: "192.0.2.1", zone_id: "z1" });
    await target.replace({ ...request, name: "@" }, never);
    expect(asked()[0]).toBe("POST /v1/zones/example.org/rrsets/%40/A/actions/set_records");
  });

  it("changes the TTL only if the config has another", async () => {
    await target.replace({ ...request, ttl: 77 }, never);
    expect(asked().filter((line) => line.includes("change_ttl"))).toEqual([]);
    await target.replace({ ...request, ttl: 60 }, never);
    expect(asked().filter((line) => line.includes("change_ttl")).length).toBe(1);
    expect(records.find(({ id }) => id === "r4")?.ttl).toBe(60);
  });

  it("says that the address is written when only the TTL was refused", async () => {
    instead = ({ path }) =>
      path.endsWith("/change_ttl")
        ? { status: 422, body: { error: { code: "invalid_input", message: "too small", details: null } } }
        : undefined;
    expect(await target.replace({ ...request, ttl: 5 }, never)).toMatchObject({
      kind: "unknown",
      fault: {
        kind: "refused",
        afterWrite: true,
        todo: expect.stringMatching(/`ttl:`/),
        because: expect.stringMatching(/^the address was written, but not its TTL: .*422: too small/),
      },
    });
  });

  it("says that a set must exist, or creates it if allowed", async () => {
    const other = { ...request, name: "other", ttl: 300 };
    expect(await target.replace(other, never)).toMatchObject({
      kind: "refused",
      fault: { kind: "missing", todo: expect.stringMatching(/create: true/) },
    });
    expect(await target.replace({ ...other, create: true }, never)).toMatchObject({ kind: "done" });
    expect(JSON.parse(server.asked.find(({ path }) => path.endsWith("/rrsets"))?.body ?? "")).toMatchObject({
      name: "other",
      type: "A",
      ttl: 300,
      records: [{ value: "9.9.9.9", comment: expect.stringMatching(/\(UTC\)$/) }],
    });
    expect(await target.replace({ ...other, zone: "example.net", create: true }, never)).toMatchObject({
      kind: "refused",
      fault: { kind: "missing" },
    });
  });

  it("reports a fault that may pass when another client created the set meanwhile", async () => {
    instead = ({ method, path }) =>
      method === "POST" && path.endsWith("/rrsets")
        ? { status: 409, body: { error: { code: "uniqueness_error", message: "exists", details: null } } }
        : undefined;
    expect(await target.replace({ ...request, name: "other", create: true }, never)).toMatchObject({
      kind: "refused",
      fault: { kind: "later" },
    });
  });
});

describe("waiting for the action", () => {
  it("asks until it has ended", async () => {
    let polls = 0;
    instead = ({ method, path }) => {
      if (method === "POST") {
        const record = records.find(({ id }) => id === "r4");
        if (record) record.value = "9.9.9.9";
        return { status: 201, body: action("running") };
      }
      return path.endsWith("/actions/5001") ? { body: action(++polls < 4 ? "running" : "success") } : undefined;
    };
    expect(await target.replace(request, never)).toMatchObject({ kind: "done" });
    expect(polls).toBe(4);
  });

  it("times out on an action that never ends, and can be aborted", async () => {
    instead = ({ method }) =>
      method === "POST" ? { status: 201, body: action("running") } : { body: action("running") };
    target.close();
    await openTarget({ total: 1_500 });
    expect(await target.replace(request, never)).toMatchObject({
      kind: "unknown",
      fault: { kind: "later", because: expect.stringMatching(/within 1.5 s/) },
    });
    target.close();
    await openTarget({ total: 600_000 });
    const before = performance.now();
    expect((await target.replace(request, AbortSignal.timeout(100))).kind).toBe("unknown");
    expect(performance.now() - before).toBeLessThan(60_000);
  });

  test.each<[string, (question: Asked) => Reply | undefined, string, RegExp]>([
    [
      "an action that failed",
      writes({ status: 201, body: action("error", { code: "action_failed", message: "no" }) }),
      "later",
      /failed: action_failed no/,
    ],
    ["an action in another format", writes({ status: 201, body: { action: { id: "x" } } }), "later", /no action/],
    [
      "success with the old value",
      writes({ status: 201, body: action("success") }),
      "later",
      /does not hold the new address/,
    ],
    [
      "an action that the service no longer knows",
      ({ method, path }) =>
        method === "POST"
          ? { status: 201, body: action("running") }
          : path.includes("/actions/")
            ? { status: 404, body: {} }
            : undefined,
      "later",
      /no longer knows the action/,
    ],
    [
      "401",
      writes({ status: 401, body: { error: { code: "unauthorized", message: "no", details: null } } }),
      "unauthorised",
      /denied access/,
    ],
    [
      "a token that may only read",
      writes({ status: 401, body: { error: { code: "token_readonly", message: "no", details: null } } }),
      "unauthorised",
      /denied access/,
    ],
    [
      "403 for maintenance",
      writes({ status: 403, body: { error: { code: "maintenance", message: "no", details: null } } }),
      "later",
      /403/,
    ],
    [
      "403 for a limit, which a new token would not lift",
      writes({ status: 403, body: { error: { code: "resource_limit_exceeded", message: "full", details: null } } }),
      "refused",
      /403: full/,
    ],
    [
      "404 for the zone, which is of another project",
      writes({ status: 404, body: { error: { code: "not_found", message: "Zone not found", details: null } } }),
      "missing",
      /has no zone example\.org, or does not allow access to it/,
    ],
    [
      "409",
      writes({ status: 409, body: { error: { code: "conflict", message: "no", details: null } } }),
      "later",
      /409/,
    ],
    [
      "422",
      writes({ status: 422, body: { error: { code: "invalid_input", message: "no", details: null } } }),
      "refused",
      /422: no/,
    ],
    [
      "423 locked",
      writes({ status: 423, body: { error: { code: "locked", message: "no", details: null } } }),
      "later",
      /423/,
    ],
    [
      "423 protected",
      writes({ status: 423, body: { error: { code: "protected", message: "no", details: null } } }),
      "refused",
      /423/,
    ],
    [
      "429",
      writes({
        status: 429,
        headers: { "retry-after": "7" },
        body: { error: { code: "rate_limit_exceeded", message: "no" } },
      }),
      "later",
      /429/,
    ],
    ["503", writes({ status: 503, body: "oops" }), "later", /503/],
    ["a web page", writes({ status: 200, body: "<html>" }), "later", /a web page instead of JSON/],
    ["a connection that is reset", writes({ fault: "reset" }), "later", /closed the connection/],
  ])("%s", async (_, reply, kind, because) => {
    instead = reply;
    const fault = { kind, because: expect.stringMatching(because) };
    expect(await target.replace(request, never)).toMatchObject({ fault });
  });
});

it("says what to do about a set that is protected", async () => {
  instead = writes({ status: 423, body: { error: { code: "protected", message: "no", details: null } } });
  expect(await target.replace(request, never)).toMatchObject({ fault: { todo: expect.stringMatching(/protection/) } });
});

describe("reading", () => {
  it("continues with the next page even if the number of the last page is missing", async () => {
    const zone = (id: number) => ({ id, name: `z${id}.example`, ttl: 60 });
    instead = ({ path }) => {
      const page = Number(/[?&]page=(\d+)/.exec(path)?.[1]);
      const pagination = { page, per_page: 1, next_page: page < 3 ? page + 1 : null, last_page: null };
      return { status: 200, body: { zones: [zone(page)], meta: { pagination } } };
    };
    const found = await target.zones(never);
    expect(found.kind === "found" && found.value.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  });

  it("treats a missing second page as a changed list, not as a missing zone", async () => {
    instead = ({ path }) => {
      if (/[?&]page=2/.test(path)) return { status: 404, body: { error: { code: "not_found", message: "no" } } };
      return { status: 200, body: { rrsets: [], meta: { pagination: { page: 1, last_page: 2 } } } };
    };
    expect(await target.records("example.org", never)).toMatchObject({
      kind: "later",
      because: "the list of records changed while it was read",
    });
  });

  it("lists zones and records, and finds a record by its id in the list", async () => {
    expect(await target.zones(never)).toEqual({ kind: "found", value: [{ id: "77", name: "example.org", ttl: 3600 }] });
    const listed = await target.records("example.org", never);
    const id = listed.kind === "found" ? listed.value.find(({ type }) => type === "A")?.id : "";
    expect(id).toBe("example.org/home/A");
    expect(await target.record(id ?? "", never)).toMatchObject({
      kind: "found",
      value: { value: "192.0.2.1", ttl: 77 },
    });
    expect(await target.record("r4", never)).toMatchObject({
      kind: "missing",
      todo: expect.stringMatching(/zone\/name\/TYPE/),
    });
    expect(await target.records("example.net", never)).toMatchObject({ kind: "missing" });
  });

  it("reads what a set holds now", async () => {
    records.push({ id: "r4b", type: "A", name: "home", value: "192.0.2.2", zone_id: "z1" });
    expect(await target.current(request, never)).toEqual({
      kind: "found",
      value: { values: ["192.0.2.1", "192.0.2.2"], ttl: 77 },
    });
    await target.replace(request, never);
    expect(await target.current(request, never)).toMatchObject({ value: { values: ["9.9.9.9"] } });
  });
});
