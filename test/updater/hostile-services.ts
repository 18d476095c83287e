import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstRecords, type Loop } from "../rig/updater/loop.ts";
import { type HostileRow, moved, service, toWrites } from "./hostile-row.ts";

const cloud = { settings: { api: "rrsets" } } as const;
const cloudError = (code: string) => ({ error: { code, message: "no", details: null } });
const sentIn = ({ body }: { readonly body: string }) => JSON.parse(body) as object;
const noRecord = { error: { message: "record not found", code: 404 } };
const inAMinute = () => new Date(Date.now() + 60_000).toUTCString();
const toZones =
  (body: unknown) =>
  ({ path }: { readonly path: string }) =>
    /records\/./.test(path) || path.includes("/zones") ? { status: 404, body } : undefined;
const running = { action: { id: 5001, status: "running", error: null } };

/** The writes whose action was polled; a poll of the previous round may come late. */
const awaitedWrites = ({ service: { asked } }: Loop) =>
  asked.filter(({ method }, at) => method === "POST" && asked.slice(at).some(({ path }) => path.endsWith("/5001")));

/** What a record service can do to its client, in either API. Each of the three bad rounds tries both records again. */
export const hostileServices: readonly HostileRow[] = [
  service("refuses the connection", () => undefined, /nothing is listening/, 0, {
    async begin(loop) {
      loop.says.firewall = moved;
      await loop.service.pause();
    },
    end: (loop) => loop.service.resume(),
  }),
  service("resets every connection", () => ({ fault: "reset" }), /closed the connection unexpectedly/, 0),
  service("resets a write", toWrites({ fault: "reset" }), /closed the connection unexpectedly/, 12),
  service("never ends its answer", toWrites({ body: { a: 1 }, fault: "hang" }), /within 2 s/, 6, {
    settings: { target: "timeout: 2s" },
  }),
  service("cuts its answer short", toWrites({ body: { record: {} }, fault: "truncate" }), /sent only part/, 6),
  service("401", () => ({ status: 401, body: { message: "Invalid" } }), /denied access/, 0),
  service("403", toWrites({ status: 403, body: { message: "Forbidden" } }), /denied access/, 6),
  service(
    "404 for the record",
    ({ path }) => (/records\/./.test(path) ? { status: 404, body: noRecord } : undefined),
    /there is no record/,
    6,
  ),
  service("404 for the zone", toZones({ error: { message: "zone not found", code: 404 } }), /has no zone/, 0),
  service("404 in words of no record service", toZones({}), /does not offer this call/, 0),
  service("404 for the write alone", toWrites({ status: 404, body: noRecord }), /there is no record/, 6),
  service("404 from a proxy for a write", toWrites({ status: 404, body: "<html>" }), /does not offer this call/, 6),
  service("422 from a proxy for a write", toWrites({ status: 422, body: "<html>" }), /refused: 422/, 6),
  service("201 for a write", toWrites({ status: 201, body: {} }), /answered 201/, 6),
  service("202 for a write", toWrites({ status: 202 }), /answered 202/, 6),
  service("204 for a write", toWrites({ status: 204 }), /answered 204/, 6),
  service("408 for a write", toWrites({ status: 408, body: { message: "late" } }), /answered 408/, 6),
  service("499 for a write", toWrites({ status: 499 }), /answered 499/, 6),
  service("switches protocols", toWrites({ raw: "HTTP/1.1 101 Yes\r\nupgrade: x\r\n\r\n" }), /answered 101/, 6),
  service(
    "switches protocols as it is done",
    toWrites({ raw: "HTTP/1.1 101 Yes\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n" }),
    /switched to another protocol/,
    6,
  ),
  service("409", toWrites({ status: 409, body: { error: { message: "conflict", code: 409 } } }), /answered 409/, 6),
  service(
    "422",
    toWrites({ status: 422, body: { error: { message: "invalid A record", code: 422 } } }),
    /refused: 422/,
    6,
  ),
  service(
    "422 that means 409",
    toWrites({ status: 422, body: { error: { message: "409 Conflict: ", code: 422 } } }),
    /409 Conflict/,
    6,
  ),
  service("429 in seconds", toWrites({ status: 429, headers: { "retry-after": "60" }, body: {} }), /answered 429/, 3, {
    outcomes: ["failed", "waiting"],
    warnings: 1,
  }),
  service(
    "429 with a date",
    (asked) => toWrites({ status: 429, headers: { "retry-after": inAMinute() }, body: {} })(asked),
    /answered 429/,
    3,
    { outcomes: ["failed", "waiting"], warnings: 1 },
  ),
  service("429 without a word", toWrites({ status: 429, body: {} }), /answered 429/, 3, {
    outcomes: ["failed", "waiting"],
    warnings: 1,
  }),
  service(
    "the quota used up",
    toWrites({ status: 429, headers: { "ratelimit-remaining": "0", "ratelimit-reset": "60" }, body: {} }),
    /answered 429/,
    3,
    { outcomes: ["failed", "waiting"], warnings: 1 },
  ),
  service("500", toWrites({ status: 500, body: "oops" }), /answered 500/, 6),
  service("502", () => ({ status: 502, body: "<html>" }), /answered 502/, 0),
  service("503", toWrites({ status: 503, headers: { "retry-after": "1" }, body: "" }), /answered 503/, 3, {
    outcomes: ["failed", "waiting"],
    warnings: 1,
  }),
  service(
    "301 to its successor",
    () => ({ status: 301, headers: { location: "https://example.net/" } }),
    /a redirect/,
    0,
  ),
  service("308 of a write", toWrites({ status: 308, headers: { location: "/elsewhere" } }), /a redirect/, 6),
  service("200 and a web page", toWrites({ body: "<html>" }), /answered 200 with a web page/, 6),
  service("200 and nothing", toWrites({ body: "" }), /answered 200 with an empty body/, 6),
  service("200 and an array", toWrites({ body: [] }), /answered 200 with JSON that is not an object/, 6),
  service(
    "200 and half a JSON",
    toWrites({ body: '{"record":{"id"' }),
    /answered 200 with text that is not JSON, or/,
    6,
  ),
  service(
    "200 and a body that says gzip",
    toWrites({ body: { record: {} }, headers: { "content-encoding": "gzip" } }),
    /cannot be decompressed as gzip/,
    6,
  ),
  service("200 and a record of wrong types", toWrites({ body: { record: { id: 7 } } }), /no record/, 6),
  service(
    "200 with an error inside",
    toWrites({ body: { error: { message: "internal", code: 500 } } }),
    /answered 200 with the error 500: internal/,
    6,
  ),
  service(
    "200 and the old record",
    toWrites({ body: { record: firstRecords()[1] } }),
    /does not hold the new address/,
    6,
  ),
  service(
    "200 and the new value in another record",
    (asked) => (asked.method === "PUT" ? { body: { record: { ...sentIn(asked), id: "soa" } } } : undefined),
    /contains a different record/,
    6,
  ),
  service(
    "200 and the new record beside an error",
    (asked) =>
      asked.method === "PUT"
        ? { body: { record: { ...sentIn(asked), id: asked.path.slice(-2) }, error: { message: "conflict" } } }
        : undefined,
    /an error \(conflict\)/,
    6,
  ),
  service(
    "the records of another zone",
    ({ path }) => {
      const records = firstRecords().map((record) => ({ ...record, zone_id: "z2" }));
      if (!path.includes("/records")) return undefined;
      return { body: { records, record: records.find(({ id }) => path.endsWith(id)) } };
    },
    /there is no record home/,
    0,
  ),
  service(
    "a list that repeats its first page",
    ({ path }) => {
      if (/records\/./.test(path)) return { status: 404, body: noRecord };
      const meta = { pagination: { page: 1, last_page: 1_000 } };
      return path.includes("/records") ? { body: { records: firstRecords(), meta } } : undefined;
    },
    /repeats its pages/,
    0,
  ),
  service(
    "an error text without end",
    toWrites({ status: 422, body: { error: { message: "x".repeat(1_000_000), code: 422 } } }),
    /refused: 422: xxx/,
    6,
  ),
  service(
    "a value without end",
    ({ method, path }) => {
      const record = firstRecords().find(({ id }) => path.endsWith(`/${id}`));
      return method === "GET" && record ? { body: { record: { ...record, value: "x".repeat(1_000_000) } } } : undefined;
    },
    /its record does not hold the new address/,
    6,
    { settings: { settings: "compare: record" }, published: "new" },
  ),
  service(
    "200 and a record with two values",
    (asked) =>
      asked.method === "PUT"
        ? {
            body: `{"record":${JSON.stringify({ ...sentIn(asked), id: asked.path.slice(-2) }).slice(0, -1)},"value":"9.9.9.9"}}`,
          }
        : undefined,
    /"value" twice in one JSON object/,
    6,
  ),
  service("200 and something huge", toWrites({ body: `"${"x".repeat(5 * 1024 * 1024)}"` }), /more than 4 MiB/, 6),
  service("sets: 401", () => ({ status: 401, body: cloudError("unauthorized") }), /denied access/, 6, cloud),
  service("sets: 201 and nothing", toWrites({ status: 201, body: "" }), /answered 201 with an empty body/, 6, cloud),
  service("sets: 404", toWrites({ status: 404, body: cloudError("not_found") }), /there is no record/, 6, cloud),
  service("sets: 409", toWrites({ status: 409, body: cloudError("conflict") }), /answered 409/, 6, cloud),
  service("sets: 422", toWrites({ status: 422, body: cloudError("invalid_input") }), /refused: 422/, 6, cloud),
  service("sets: 423 locked", toWrites({ status: 423, body: cloudError("locked") }), /answered 423/, 6, cloud),
  service("sets: 423 protected", toWrites({ status: 423, body: cloudError("protected") }), /refused: 423/, 6, cloud),
  service("sets: 503", toWrites({ status: 503, body: cloudError("unavailable") }), /answered 503/, 6, cloud),
  service("sets: 202", toWrites({ status: 202 }), /answered 202/, 6, cloud),
  service("sets: 204", toWrites({ status: 204 }), /answered 204/, 6, cloud),
  service("sets: 303", toWrites({ status: 303, headers: { location: "/" } }), /a redirect/, 6, cloud),
  service("sets: 408", toWrites({ status: 408, body: cloudError("timeout") }), /answered 408/, 6, cloud),
  service(
    "sets: 403 from a proxy",
    toWrites({ status: 403, body: "<html>" }),
    /denied access \(403 with a web page/,
    6,
    cloud,
  ),
  service(
    "sets: an action that fails",
    toWrites({
      status: 201,
      body: { action: { id: 1, status: "error", error: { code: "action_failed", message: "no" } } },
    }),
    /started the write, but it failed/,
    6,
    cloud,
  ),
  service(
    "sets: success, and nothing has changed",
    toWrites({ status: 201, body: { action: { id: 1, status: "success" } } }),
    /does not hold the new address/,
    6,
    cloud,
  ),
  service(
    "sets: another set is read back",
    ({ method, path }) => {
      const type = path.split("/").at(-1);
      return method === "GET" ? { body: { rrset: { name: "other", type, records: [] } } } : undefined;
    },
    /another record set/,
    6,
    { ...cloud, published: "new" },
  ),
  service(
    "sets: an action that never ends, until we are stopped",
    ({ method, path }) =>
      method === "POST" ? { status: 201, body: running } : path.includes("/actions/") ? { body: running } : undefined,
    /./,
    3,
    { ...cloud, part: "signal", stopAt: awaitedWrites, warnings: 0, outcomes: ["failed", "failed"] },
  ),
];

const secondDay = 24 * 3_600_000;

/** The machine: its disk, its clock, and signals. */
export const hostileMachines: readonly HostileRow[] = [
  {
    ...{ part: "disk", title: "the state cannot be replaced", logged: /state file cannot be written/, warnings: 1 },
    ...{ outcomes: ["failed"], sent: 2, published: "new", stored: "lost" },
    begin(loop) {
      loop.says.firewall = moved;
      rmSync(loop.config.stateFile);
      mkdirSync(loop.config.stateFile);
    },
    end: (loop) => rmSync(loop.config.stateFile, { recursive: true }),
  },
  {
    ...{ part: "disk", title: "the state is torn, and a restart reads it", logged: /replaced by/, warnings: 0 },
    ...{ outcomes: ["done"], sent: 2, published: "new", stored: "new" },
    async begin(loop) {
      loop.says.firewall = moved;
      writeFileSync(loop.config.stateFile, '{"version":1,"entries":{"x":{"addr');
      await loop.reopen();
    },
  },
  {
    ...{
      part: "disk",
      title: "the state says something of a version that there never was",
      logged: /replaced by/,
      warnings: 0,
    },
    ...{ outcomes: ["done"], sent: 2, published: "new", stored: "new" },
    async begin(loop) {
      loop.says.firewall = moved;
      writeFileSync(loop.config.stateFile, '{"version":0,"entries":[]}');
      await loop.reopen();
    },
  },
  {
    ...{ part: "disk", title: "the state is readable by everyone", logged: /replaced by/, warnings: 0 },
    ...{ outcomes: ["done"], sent: 2, published: "new", stored: "new" },
    async begin(loop) {
      loop.says.firewall = moved;
      chmodSync(loop.config.stateFile, 0o644);
      await loop.reopen();
    },
  },
  {
    ...{ part: "disk", title: "the state is a link to another folder", logged: /replaced by/, warnings: 0 },
    ...{ outcomes: ["done"], sent: 2, published: "new", stored: "new" },
    async begin(loop) {
      loop.says.firewall = moved;
      mkdirSync(join(loop.folder, "disk"));
      renameSync(loop.config.stateFile, join(loop.folder, "disk", "state"));
      symlinkSync(join("disk", "state"), loop.config.stateFile);
      await loop.reopen();
    },
    end(loop) {
      if (!lstatSync(loop.config.stateFile).isSymbolicLink()) throw new Error("the link was replaced");
    },
  },
  clock("put back by a day during a Retry-After", -secondDay),
  clock("put forward by a year during a Retry-After", 365 * secondDay),
  clock("eight hours further after a sleep", 8 * 3_600_000),
  {
    ...{ part: "signal", title: "stopped while the firewall answers", logged: /./, warnings: 0 },
    ...{ outcomes: ["failed"], sent: 0, stopAt: (loop) => loop.firewall.asked },
    begin(loop) {
      loop.says.firewall = () => ({ ...moved(), fault: "hang" });
    },
  },
  {
    ...{ part: "signal", title: "stopped while the record service answers", logged: /./, warnings: 0 },
    ...{ outcomes: ["failed"], sent: 3, stopAt: (loop) => loop.writes() },
    begin(loop) {
      loop.says.firewall = moved;
      loop.says.service = toWrites({ body: { a: 1 }, fault: "hang" });
    },
  },
];

/** After a Retry-After, the clock jumps: the next round retries, and does the right thing. */
function clock(title: string, by: number): HostileRow {
  return {
    ...{ part: "clock", title, logged: /replaced by/, warnings: 0 },
    ...{ outcomes: ["done"], sent: 2, published: "new", stored: "new" },
    async begin(loop) {
      loop.says.firewall = moved;
      loop.says.service = toWrites({ status: 429, headers: { "retry-after": "60" }, body: {} });
      await loop.round();
      loop.service.asked.length = 0;
      loop.says.service = () => undefined;
      loop.clock.now += by;
    },
  };
}
