import type { ReadableRecord, ReadableZone, RecordReplacement } from "../contract/records-v1-client.ts";
import type { TargetConfig } from "./config.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "./http-client.ts";
import { parseRetryAfter } from "./retry-after.ts";
import type { TargetFault } from "./target.ts";

/** The calls of spec 4.1 to 4.4, each answered by data, by `absent` for a 404, or by what is wrong. */
export type V1Calls = {
  zones(name: string | undefined, signal: AbortSignal): Promise<Answer<readonly ReadableZone[]>>;
  records(zoneId: string, signal: AbortSignal): Promise<Answer<readonly ReadableRecord[]>>;
  record(id: string, signal: AbortSignal): Promise<Answer<ReadableRecord>>;
  replace(id: string, replacement: RecordReplacement, signal: AbortSignal): Promise<Answer<ReadableRecord>>;
};

export type Answer<T> = { readonly kind: "ok"; readonly value: T } | { readonly kind: "absent" } | TargetFault;

const mostPages = 1000;

export function createV1Calls(config: TargetConfig, client: HttpClient, now: () => number): V1Calls {
  const base = /\/api\/v1\/?$/.test(config.url.pathname) ? "" : "/api/v1";
  const send = async (request: Omit<HttpRequest, "headers">, signal: AbortSignal): Promise<Answer<Body>> => {
    const json = request.body === undefined ? {} : { "content-type": "application/json" };
    const headers = { "auth-api-token": config.token(), ...json };
    return bodyOf(await client.send({ ...request, path: base + request.path, headers }, signal), now());
  };
  const get = (path: string, signal: AbortSignal) => send({ method: "GET", path }, signal);

  /** Services cut long lists into pages unasked; `meta` says so, and may be missing. */
  const list = async <T>(path: string, key: string, isItem: (value: unknown) => value is T, signal: AbortSignal) => {
    const items: T[] = [];
    for (let page = 1; page <= mostPages; page++) {
      const separator = path.includes("?") ? "&" : "?";
      const answer = await get(page === 1 ? path : `${path}${separator}page=${page}&per_page=100`, signal);
      if (answer.kind !== "ok") return page === 1 ? answer : later("the list of records changed while it was read");
      const found = answer.value[key];
      if (!Array.isArray(found) || !found.every(isItem)) return unexpected(`no list of ${key}`);
      items.push(...found);
      if (page >= lastPage(answer.value)) break;
    }
    return { kind: "ok" as const, value: items };
  };

  return {
    // With a name there is no second page, and the original refuses the two together.
    zones: (name, signal) =>
      list(name === undefined ? "/zones" : `/zones?name=${encodeURIComponent(name)}`, "zones", isZone, signal),
    records: (zoneId, signal) => list(`/records?zone_id=${encodeURIComponent(zoneId)}`, "records", isRecord, signal),
    record: async (id, signal) => recordIn(await get(`/records/${encodeURIComponent(id)}`, signal)),
    replace: async (id, replacement, signal) => {
      const path = `/records/${encodeURIComponent(id)}`;
      return recordIn(await send({ method: "PUT", path, body: JSON.stringify(replacement) }, signal));
    },
  };
}

type Body = Readonly<Record<string, unknown>>;

function bodyOf(outcome: HttpOutcome, now: number): Answer<Body> {
  if (outcome.kind === "failed") return later(outcome.because, outcome.todo);
  const body = parsed(outcome.body);
  const { status, message } = errorIn(outcome.status, body);
  if (status !== 200) return faultFor(status, message, parseRetryAfter(outcome.headers["retry-after"], now));
  return body ? { kind: "ok", value: body } : unexpected("no JSON object");
}

/** Errors come as `error: {message, code}`, as `error: "text"`, or as `message`; the original even sent some with 200. */
function errorIn(status: number, body: Body | undefined): { readonly status: number; readonly message: string } {
  const { error, message } = body ?? {};
  const detail = isObject(error) ? error : {};
  const said = [detail.message, error, message].find((text) => typeof text === "string" && text !== "");
  const code = detail.code;
  const inside = status === 200 && typeof code === "number" && code >= 400 ? code : status;
  return { status: inside, message: printable(typeof said === "string" ? said : "") };
}

function faultFor(status: number, message: string, retryAfter: number | undefined): Answer<never> {
  const said = message ? `${status}: ${message}` : String(status);
  if (status === 404) return { kind: "absent" };
  if (status === 401 || status === 403) {
    return {
      kind: "unauthorised",
      because: `the record service does not accept the token (${said})`,
      todo: "make a new token in its console, or with `moor token add`, and put it into the config's file",
    };
  }
  if (status >= 300 && status < 400) {
    return {
      kind: "refused",
      because: `the record service answered ${status} and points to another place`,
      todo: "mend the url; a service that has moved to another API needs another `api:` as well",
    };
  }
  // The original reported clashes of two writers as a 422 whose text says 409.
  if (status === 409 || status === 429 || status >= 500 || message.startsWith("409")) {
    const todo =
      status === 429 ? "nothing: moor waits as told" : "nothing: moor tries again; see the service's log if it lasts";
    return {
      ...later(`the record service answered ${said}`, todo),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
  }
  return {
    kind: "refused",
    because: `the record service refused: ${said}`,
    todo: "see what the record holds with `moor list ZONE`",
  };
}

const recordIn = (answer: Answer<Body>): Answer<ReadableRecord> => {
  if (answer.kind !== "ok") return answer;
  const record = answer.value.record;
  return isRecord(record) ? { kind: "ok", value: record } : unexpected("no record");
};

const later = (because: string, todo = "nothing: moor tries again"): TargetFault => ({ kind: "later", because, todo });

const unexpected = (lack: string): TargetFault =>
  later(`the record service answered 200 but with ${lack} in it`, "see whether the url is that of a record service");

function lastPage(body: Body): number {
  const meta = body.meta;
  const pagination = isObject(meta) ? meta.pagination : undefined;
  const last = isObject(pagination) ? pagination.last_page : undefined;
  return typeof last === "number" ? last : 1;
}

function parsed(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Foreign text goes to a terminal: one line, no control characters, not endless. */
const printable = (text: string) =>
  text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 200);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isZone = (value: unknown): value is ReadableZone => hasTexts(value, ["id", "name"]);

const isRecord = (value: unknown): value is ReadableRecord =>
  hasTexts(value, ["id", "type", "name", "value", "zone_id"]);

const hasTexts = (value: unknown, keys: readonly string[]) =>
  isObject(value) && keys.every((key) => typeof value[key] === "string") && isTtl(value.ttl);

const isTtl = (ttl: unknown) =>
  ttl === undefined || ttl === null || (typeof ttl === "number" && Number.isInteger(ttl) && ttl >= 0);
