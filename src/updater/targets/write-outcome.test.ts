import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { isLongRun } from "../../../test/rig/long-run.ts";
import { firstRecords } from "../../../test/rig/updater/loop.ts";
import {
  type Asked,
  type Reply,
  recordService,
  setService,
  startServer,
  type TestRecord,
} from "../../../test/rig/updater/services.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import { createRRsetsTarget } from "./rrsets.ts";
import type { ReplaceRequest, WriteOutcome } from "./target.ts";
import type { TokenTarget } from "./token-target.ts";
import { createV1Target } from "./v1.ts";

/** A write ends as done, refused or unknown: every status class with every body, in both APIs. */

type Api = "v1" | "rrsets";
const never = new AbortController().signal;
const request: ReplaceRequest = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };
const waiting = { first: 1, longest: 1, total: 1_000 };

type Peer = {
  /** `carriedOut`: the service carried out the request, whatever it answers. */
  readonly write: (
    reply: (asked: Asked) => Reply | undefined,
    carriedOut?: boolean,
    more?: object,
  ) => Promise<WriteOutcome & { readonly asked: readonly Asked[]; readonly records: readonly TestRecord[] }>;
  readonly close: () => Promise<void>;
};

/** A service that starts each write with the same records, and a client of it. */
async function openPeer(api: Api, timeout = 60_000): Promise<Peer> {
  let answer: (asked: Asked) => Reply | Promise<Reply>;
  const server = await startServer((asked) => answer(asked));
  const config: TokenTarget = {
    name: "dns",
    api,
    url: new URL(server.url),
    trust: { kind: "system" },
    token: () => "t0ken",
  };
  const client = await createHttpClient(config, { timeoutMs: timeout });
  const target = api === "v1" ? createV1Target(config, client) : createRRsetsTarget(config, client, Date.now, waiting);
  return {
    async write(reply, carriedOut = false, more = {}) {
      const records: TestRecord[] = firstRecords();
      const serve = (api === "v1" ? recordService : setService)(records);
      answer = (asked) => {
        const instead = reply(asked);
        if (instead === undefined) return serve(asked);
        if (carriedOut) serve(asked);
        return instead;
      };
      const before = server.asked.length;
      const outcome: WriteOutcome = await target.replace({ ...request, ...more }, never);
      return { ...outcome, asked: server.asked.slice(before), records };
    },
    async close() {
      target.close();
      await server.close();
    },
  };
}

async function outcomeOf(
  api: Api,
  reply: (asked: Asked) => Reply | undefined,
  carriedOut = false,
  more = {},
  timeout?: number,
) {
  const peer = await openPeer(api, timeout);
  try {
    return await peer.write(reply, carriedOut, more);
  } finally {
    await peer.close();
  }
}

const toWrites =
  (reply: Reply) =>
  ({ method }: Asked): Reply | undefined =>
    method === "GET" ? undefined : reply;

const written = { id: "r4", type: "A", name: "home", value: "9.9.9.9", ttl: 77, zone_id: "z1" };
const zero = { id: "", type: "", name: "", value: "", zone_id: "" };
const started = { id: 5001, status: "success", progress: 100, error: null };

/** Bodies by what they are; `own` are errors in the API's own format. */
const bodies: Record<Api, Readonly<Record<string, (status: number) => unknown>>> = {
  v1: {
    "own: message": () => ({ message: "no" }),
    "own: error": (code) => ({ record: zero, error: { message: "no", code } }),
    "own: bare text": () => ({ error: "json not valid" }),
    nothing: () => "",
    "a web page": () => "<html>no</html>",
    "an empty object": () => ({}),
    "a list": () => [],
    "half an error": (code) => `{"error":{"message":"no","code":${code}`,
    "an error of another status": (code) => ({ error: { message: "no", code: code + 1 } }),
    "an error of the other API": () => ({ error: { code: "invalid_input", message: "no" } }),
    "an error without a text": (code) => ({ error: { code } }),
    "the new record": () => ({ record: written }),
    "the new record and an error": (code) => ({ record: written, error: { message: "no", code } }),
  },
  rrsets: {
    "own: error": () => ({ error: { code: "invalid_input", message: "no", details: null } }),
    "own: locked": () => ({ error: { code: "locked", message: "no" } }),
    nothing: () => "",
    "a web page": () => "<html>no</html>",
    "an empty object": () => ({}),
    "a list": () => [],
    "half an error": () => '{"error":{"code":"invalid_input","mess',
    "a message": () => ({ message: "no" }),
    "an error of the other API": (code) => ({ error: { message: "no", code } }),
    "an error that may come late": () => ({ error: { code: "timeout", message: "no" } }),
    "an action": () => ({ action: started }),
    "an action and an error": () => ({ action: started, error: { code: "invalid_input", message: "no" } }),
  },
};

/** Some of each class; long runs have all. */
const some = (usual: readonly number[], others: readonly number[]) => (isLongRun ? [...usual, ...others] : usual);
const refusing = some([400, 401, 403, 404, 409, 422, 429], [405, 406, 410, 412, 413, 415, 423, 451]);
const open = some([201, 204, 299, 302, 304], [202, 205, 206, 207, 300, 301, 303, 307, 308, 399]);
const late = some([408, 425, 500, 503, 599], [499, 502, 504]);
const statuses = [200, ...refusing, ...open, ...late];
const withoutBody = [204, 304];

describe.each<Api>(["v1", "rrsets"])("a write at %s that was not carried out", (api) => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await openPeer(api);
  });
  afterAll(() => peer.close());

  test.each(statuses)("%i", async (status) => {
    const found: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const [shape, body] of Object.entries(bodies[api])) {
      if (withoutBody.includes(status) && shape !== "nothing") continue;
      found[shape] = (await peer.write(toWrites({ status, body: body(status) }))).kind;
      const isRefused = refusing.includes(status) && shape.startsWith("own");
      expected[shape] = isRefused ? "refused" : "unknown";
    }
    expect(found).toEqual(expected);
  });
});

describe.each<Api>(["v1", "rrsets"])("a write at %s that was carried out, whatever is answered", (api) => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await openPeer(api);
  });
  afterAll(() => peer.close());

  test.each(statuses)("%i", async (status) => {
    const shapes = withoutBody.includes(status) ? ["nothing"] : Object.keys(bodies[api]);
    for (const shape of shapes.filter((each) => !each.startsWith("own") || !refusing.includes(status))) {
      const body = bodies[api][shape]?.(status);
      const { kind } = await peer.write(toWrites({ status, body }), true);
      // After a success status, the record is read; otherwise the next round finds out.
      expect([shape, kind]).toEqual([shape, status < 300 ? "done" : "unknown"]);
    }
  });
});

const raw = (head: string, body = "") => ({ raw: `HTTP/1.1 ${head}\r\nconnection: close\r\n\r\n${body}` });

describe.each<Api>(["v1", "rrsets"])("the answer to a write at %s", (api) => {
  const success = JSON.stringify(api === "v1" ? { record: written } : { action: started });
  test.each<[string, Reply, "done" | "unknown"]>([
    ["is reset", { fault: "reset" }, "unknown"],
    ["never ends", { body: success, fault: "hang" }, "unknown"],
    ["is cut short", { body: success, fault: "truncate" }, "unknown"],
    ["is cut short and has no length", raw("200 OK", success.slice(0, -5)), "unknown"],
    ["is an error cut short", raw("422 No", '{"error":{"message":"no","code":422'), "unknown"],
    ["is not HTTP", { raw: "SSH-2.0-x\r\n" }, "unknown"],
    ["has a status of two digits", raw("20 OK", success), "unknown"],
    ["has an unknown status", raw("999 No", success), "unknown"],
    ["switches protocols", raw("101 Switching Protocols\r\nupgrade: h2c"), "unknown"],
    [
      "switches protocols with the right headers",
      { raw: "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n" },
      "unknown",
    ],
    ["is 100 Continue and nothing else", { raw: "HTTP/1.1 100 Continue\r\n\r\n" }, "unknown"],
    ["is 103 Early Hints and nothing else", { raw: "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" }, "unknown"],
    [
      "starts with 103 Early Hints",
      { raw: `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${raw("200 OK", success).raw}` },
      "unknown",
    ],
  ])("%s", async (_, reply, kind) => {
    const timeout = reply.fault === "hang" ? 2_000 : undefined;
    expect((await outcomeOf(api, toWrites(reply), false, {}, timeout)).kind).toBe(kind);
  });
});

it("a write that was sent twice is not refused by the second answer: the first may have been carried out", async () => {
  let puts = 0;
  const no = { status: 422, body: { error: { message: "no", code: 422 } } };
  const { kind, asked } = await outcomeOf("v1", ({ method }) =>
    method === "GET" ? undefined : ++puts === 1 ? { fault: "reset" } : no,
  );
  expect([asked.filter(({ method }) => method === "PUT").length, kind]).toEqual([2, "unknown"]);
});

describe("a record set is written in several calls, and", () => {
  const no = { error: { code: "invalid_input", message: "no", details: null } };
  const running = { action: { id: 5001, status: "running", error: null } };
  const posted = ({ method }: Asked) => method === "POST";
  const other = { name: "other", create: true };
  test.each<[string, (asked: Asked) => Reply | undefined, WriteOutcome["kind"], object?]>([
    ["all succeed", () => undefined, "done", { ttl: 60 }],
    ["it is created", () => undefined, "done", other],
    [
      "its creation is refused",
      ({ path }) => (path.endsWith("/rrsets") ? { status: 422, body: no } : undefined),
      "refused",
      other,
    ],
    [
      "its creation is answered with a redirect",
      ({ path }) => (path.endsWith("/rrsets") ? { status: 302 } : undefined),
      "unknown",
      other,
    ],
    ["a proxy answers 404", (asked) => (posted(asked) ? { status: 404, body: "<html>" } : undefined), "unknown", other],
    [
      "the TTL is refused",
      ({ path }) => (path.endsWith("/change_ttl") ? { status: 422, body: no } : undefined),
      "unknown",
      { ttl: 60 },
    ],
    ["it cannot be read back", (asked) => (posted(asked) ? undefined : { status: 401, body: no }), "unknown"],
    [
      "the action cannot be read",
      ({ path }) =>
        path.includes("/actions/") ? { status: path.endsWith("5001") ? 403 : 201, body: running } : undefined,
      "unknown",
    ],
    [
      "another action is returned",
      ({ path }) =>
        path.endsWith("/5001")
          ? { body: { action: { ...started, id: 7 } } }
          : path.includes("/actions/")
            ? { status: 201, body: running }
            : undefined,
      "unknown",
    ],
    [
      "the action fails",
      (asked) => (posted(asked) ? { status: 201, body: { action: { id: 1, status: "error" } } } : undefined),
      "unknown",
    ],
  ])("%s", async (_, reply, kind, more) => {
    expect((await outcomeOf("rrsets", reply, false, more)).kind).toBe(kind);
  });
});

describe("a success counts only for what was sent", () => {
  test.each<[string, object, object?]>([
    ["another id", { id: "r6" }],
    ["another name", { name: "other" }],
    ["another type", { type: "AAAA" }],
    ["another value", { value: "9.9.9.8" }],
    ["no address", { value: "home" }],
    ["another zone", { zone_id: "z2" }],
    ["an error as text next to it", {}, { error: "no" }],
    ["an error with a numeric code next to it", {}, { error: { message: "no", code: 422 } }],
    ["an error with a code in words next to it", {}, { error: { code: "conflict", message: "no" } }],
    ["a list of errors next to it", {}, { error: ["no"] }],
  ])("v1, %s", async (_, changed, beside) => {
    const reply = toWrites({ body: { record: { ...written, ...changed }, ...beside } });
    expect((await outcomeOf("v1", reply)).kind).toBe("unknown");
    const done = await outcomeOf("v1", reply, true);
    expect([done.kind, done.asked.at(-1)?.method]).toEqual(["done", "GET"]);
  });

  test.each<[string, object]>([
    ["an empty error", { error: {} }],
    ["an error of null", { error: null }],
  ])("v1, and %s next to it does not matter", async (_, beside) => {
    expect((await outcomeOf("v1", toWrites({ body: { record: written, ...beside } }), true)).kind).toBe("done");
  });

  test.each<[string, object]>([
    ["another name", { name: "other" }],
    ["another type", { type: "AAAA" }],
    ["a second address", { records: [{ value: "9.9.9.9" }, { value: "9.9.9.8" }] }],
  ])("a record set that is read back with %s", async (_, changed) => {
    const rrset = { name: "home", type: "A", ttl: 77, records: [{ value: "9.9.9.9" }], ...changed };
    const { kind } = await outcomeOf("rrsets", ({ method }) => (method === "GET" ? { body: { rrset } } : undefined));
    expect(kind).toBe("unknown");
  });
});

describe("a record of another zone is never written", () => {
  const elsewhere = { id: "x4", type: "A", name: "home", value: "192.0.2.1", zone_id: "z2" };
  const listed = (records: readonly object[]) => (asked: Asked) =>
    asked.path.startsWith("/api/v1/records?") ? { body: { records } } : undefined;
  const writes = ({ asked }: Awaited<ReturnType<typeof outcomeOf>>) =>
    asked.filter(({ method }) => method === "PUT").map(({ path }) => path);

  it("even if it is listed", async () => {
    const alone = await outcomeOf("v1", listed([elsewhere]));
    expect([alone.kind, writes(alone)]).toEqual(["refused", []]);
    const beside = await outcomeOf("v1", listed([elsewhere, ...firstRecords()]));
    expect([beside.kind, writes(beside)]).toEqual(["done", ["/api/v1/records/r4"]]);
  });

  it("even if the config has its id", async () => {
    const found = ({ path }: Asked) => (path.endsWith("/x4") ? { body: { record: elsewhere } } : undefined);
    const named = await outcomeOf("v1", found, false, { recordId: "x4" });
    expect(named).toMatchObject({
      kind: "refused",
      fault: {
        because: expect.stringMatching(/x4 is in another zone, but the config uses it for home\.example\.org A/),
      },
    });
    expect(writes(named)).toEqual([]);
  });

  it("even if the service returns it for another id", async () => {
    const found = ({ path }: Asked) =>
      path.endsWith("/r4") ? { body: { record: { ...written, id: "x4" } } } : undefined;
    const named = await outcomeOf("v1", found, false, { recordId: "r4" });
    expect([named.kind, writes(named)]).toEqual(["refused", []]);
  });
});
