import type { IncomingHttpHeaders } from "node:http";
import { isObject, jsonOf, objectOfJson } from "../../core/is-object.ts";
import { repeatedKey } from "../../core/repeated-key.ts";
import { utcSecond } from "../../core/utc-text.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpOutcome } from "../../lib/http-client/client.ts";
import { parseRetryAfter } from "../../lib/http-client/retry-after.ts";
import type { ServiceFault } from "./service-fault.ts";

/** The answer of a record service, whatever its API: data, `absent` for a 404, or a fault. */
export type ServiceAnswer<T> = { readonly kind: "ok"; readonly value: T } | Absent | ServiceFault;

/** `message` is the service's own text, empty if there is none. */
export type Absent = { readonly kind: "absent"; readonly message: string };

export type JsonBody = Readonly<Record<string, unknown>>;

/** How a service formats its answers, and the words for its faults. */
export type ApiDialect = {
  /** Its name in messages. */
  readonly service: string;
  /** What to do when it rejects the credentials. */
  readonly renew: string;
  readonly parse: (text: string) => JsonBody | undefined;
  readonly errorIn: (status: number, body: JsonBody | undefined) => ServiceError;
};

/** `done`: the statuses that mean success for this call. */
export function readAnswer(
  outcome: HttpOutcome,
  done: readonly number[],
  now: number,
  dialect: ApiDialect = ours,
): ServiceAnswer<JsonBody> {
  if (outcome.kind === "failed") return { ...later(outcome.because, outcome.todo), unreached: true, ofService: true };
  const { service } = dialect;
  const body = dialect.parse(outcome.body);
  const error = dialect.errorIn(outcome.status, body);
  if (!done.includes(error.status)) {
    if (outcome.status === 403 && body === undefined && isWebPage(outcome.body)) return blocked(service);
    return faultFor(error, parseRetryAfter(outcome.headers["retry-after"], now), now, dialect);
  }
  if (!body) return unreadable(outcome.status, outcome.body, service);
  return isError(body.error)
    ? unexpected(`an error (${error.message || "no message"})`, service)
    : { kind: "ok", value: body };
}

/** The credentials never reached the service, so new ones would not help. */
const blocked = (service: string): ServiceFault => ({
  kind: "unauthorised",
  because: `${service} denied access (403 with a web page: a firewall or proxy in front of it answered instead)`,
  todo: "check the URL, and whether the service blocks this machine's address or network; a new token does not help",
});

export type ServiceError = {
  readonly status: number;
  /** Empty if there is none. */
  readonly code: string;
  /** Empty if the body is not an error in the service's own format. */
  readonly message: string;
  /** The status of the answer, if an error in its body has another one. */
  readonly outside?: number;
  /** The service did not send `status`: it stands for what the body means, and is not shown. */
  readonly isMeaning?: true;
};

/**
 * Errors come as `error: {message, code}`, as `error: "text"`, or as `message`; the original v1 service even sent some
 * with 200.
 */
export function errorIn(status: number, body: JsonBody | undefined): ServiceError {
  const { error, message } = body ?? {};
  const detail = isObject(error) ? error : {};
  const errorText = [detail.message, error, message].find((text) => typeof text === "string" && text !== "");
  const { code } = detail;
  const inside = status === 200 && typeof code === "number" && code >= 400 ? code : status;
  return {
    status: inside,
    code: typeof code === "string" ? code : "",
    message: printable(typeof errorText === "string" ? errorText : ""),
    ...(inside !== status && { outside: status }),
  };
}

/** The dialect of Hetzner and of moor. */
export const dialectOf = (service: string): ApiDialect => ({ ...ours, service });

const ours: ApiDialect = {
  service: "the record service",
  renew: "create a new token in its console, or with `moor token add`, and put it in the file named in the config",
  parse: (text) => parsed(text),
  errorIn,
};

/** The original v1 service sends an empty error with some successes. */
const isError = (error: unknown): boolean =>
  isObject(error) ? Object.keys(error).length > 0 : error !== undefined && error !== null && error !== "";

/** With these, the request may have been carried out anyway, or a proxy may repeat it. */
export const openStatuses: readonly number[] = [408, 425, 499];

/** Codes of temporary failures. `conflict`, like 409, means that two clients wrote simultaneously. */
const passingCodes = ["conflict", "locked", "maintenance", "unavailable", "timeout", "resource_unavailable"];

/** A 403 with one of these codes does not depend on the token. */
const aboutNoToken = ["resource_limit_exceeded"];

function faultFor(
  { status, code, message, outside, isMeaning }: ServiceError,
  retryAfter: number | undefined,
  now: number,
  { service, renew }: ApiDialect,
): ServiceAnswer<never> {
  const number = outside === undefined || isMeaning ? String(outside ?? status) : `${outside} with the error ${status}`;
  const errorText = message ? `${number}: ${message}` : number;
  if (status === 404) return { kind: "absent", message };
  // The original v1 service reported conflicting writes as a 422 whose text starts with 409.
  const clash = (status === 409 && code !== "uniqueness_error") || message.startsWith("409");
  const isOpen = status < 300 || status >= 500 || openStatuses.includes(status);
  if (clash || status === 429 || isOpen || passingCodes.includes(code)) {
    const unasked =
      status === 429
        ? "no action needed: moor waits for 10 s, and longer after each such answer"
        : "no action needed: moor retries; see the service's log if this goes on";
    const todo = retryAfter ? waitingUntil(now + retryAfter) : unasked;
    return {
      ...later(`${service} answered ${errorText}`, todo),
      ...(retryAfter && { retryAfter }),
      ...(status === 429 && !retryAfter && { throttled: true }),
      ...((status === 429 || status >= 500) && { ofService: true }),
    };
  }
  if (status === 401 || (status === 403 && !aboutNoToken.includes(code))) {
    return {
      kind: "unauthorised",
      because: `${service} denied access (${errorText})`,
      todo: renew,
      ...(status === 401 && { ofService: true }),
    };
  }
  if (status >= 300 && status < 400) {
    return {
      kind: "refused",
      because: `${service} answered ${status}, a redirect`,
      todo: "correct the URL; a service that has moved to another API also needs another `api:`",
    };
  }
  return {
    kind: "refused",
    because: `${service} refused: ${errorText}`,
    todo:
      code === "protected"
        ? "remove the protection of the record in the console, or remove the name from the config"
        : "check what the record holds with `moor record list ZONE`",
    ...(code && { code }),
  };
}

/** Used as a `todo` only: it differs on each try, and must not make the same failure look like a new one. */
const waitingUntil = (until: number) =>
  `no action needed: moor waits until ${utcSecond(until)}, as the service asked; *Check now* or SIGUSR1 tries once before then`;

export const later = (because: string, todo = "no action needed: moor retries"): ServiceFault => ({
  kind: "later",
  because,
  todo,
});

/** One item of an answer. */
export function itemIn<T>(
  answer: ServiceAnswer<JsonBody>,
  key: string,
  isItem: (value: unknown) => value is T,
): ServiceAnswer<T> {
  if (answer.kind !== "ok") return answer;
  const item = answer.value[key];
  return isItem(item) ? { kind: "ok", value: item } : unexpected(`no ${key}`);
}

/** A 404 that is not in the format of a record service: another program, or another API. */
export const unknownCall = ({ message }: Absent, service = ours.service): ServiceFault => ({
  kind: "refused",
  because: `${service} does not offer this call (404${message ? `: ${message}` : ""})`,
  todo: "check that the URL is that of a record service, and that `api:` is the API it offers",
});

export const noZone = (zone: string, service = ours.service): ServiceFault => ({
  kind: "missing",
  of: "zone",
  because: `${service} has no zone ${zone}, or does not allow access to it`,
  todo: "create it there, or allow access; `moor zone list` lists the zones that moor can see",
});

export const unexpected = (lack: string, service = ours.service): ServiceFault =>
  later(`${service} reported success, but its answer contains ${lack}`, lookAtUrl);

const lookAtUrl = "check that the URL is that of a record service";

const unreadable = (status: number, body: string, service: string): ServiceFault =>
  later(`${service} answered ${status} with ${whatIsWrongWith(body)}`, lookAtUrl);

const isWebPage = (body: string): boolean => /^\s*</.test(body);

/**
 * A page, as proxies and web servers send it. The type alone says nothing: PHP sends plain words as text/html too.
 */
export const isWebAnswer = ({
  body,
  headers,
}: {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}): boolean => isWebPage(body) || (/^text\/html\b/i.test(headers["content-type"] ?? "") && /<[a-z/!]/i.test(body));

function whatIsWrongWith(body: string): string {
  if (body.trim() === "") return "an empty body";
  if (isWebPage(body)) return "a web page instead of JSON";
  if (jsonOf(body) === undefined) return "text that is not JSON, or was cut off";
  const twice = repeatedKey(body);
  return twice === undefined ? "JSON that is not an object" : `"${printable(twice)}" twice in one JSON object`;
}

const mostPages = 1000;

/**
 * Services split long lists into pages without being asked; in Hetzner's APIs `meta` says so, but may be missing. An
 * item that moves to the next page during the read counts once. A list that never ends is a fault: half of it would
 * look like missing records.
 */
export async function readPages<T>(
  ask: (page: number) => Promise<ServiceAnswer<JsonBody>>,
  key: string,
  isItem: (value: unknown) => value is T,
  idOf: (item: T) => unknown,
  hasNext: (answer: JsonBody, page: number) => boolean = hasNextInMeta,
): Promise<ServiceAnswer<readonly T[]>> {
  const items = new Map<unknown, T>();
  for (let page = 1; page <= mostPages; page++) {
    const answer = await ask(page);
    if (answer.kind === "absent" && page > 1) return later("the list of records changed while it was read");
    if (answer.kind !== "ok") return answer;
    const listed = answer.value[key];
    if (!Array.isArray(listed) || !listed.every(isItem)) return unexpected(`no list of ${key}`);
    const before = items.size;
    for (const item of listed) items.set(idOf(item), item);
    const isLast = !hasNext(answer.value, page);
    if (page > 1 && items.size === before && !(isLast && listed.length === 0)) break;
    if (isLast) return { kind: "ok", value: [...items.values()] };
  }
  return later(`the record service's list of ${key} does not end, or repeats its pages`, "see the service's log");
}

export type ListedPage<T> = {
  readonly kind: "page";
  readonly items: readonly T[];
  /** The query of the next page; empty after the last one. */
  readonly next: string;
};

/** For services whose pages name the next one. */
export async function followPages<T, F extends { readonly kind: string }>(
  service: string,
  first: string,
  ask: (query: string) => Promise<ListedPage<T> | F>,
): Promise<{ readonly kind: "found"; readonly value: readonly T[] } | Exclude<F, ListedPage<T>> | ServiceFault> {
  const items: T[] = [];
  const urls = new Set<string>();
  for (let query = first; urls.size < mostPages && !urls.has(query); ) {
    urls.add(query);
    const page = await ask(query);
    if (page.kind === "absent" && urls.size > 1) return later("the list of records changed while it was read");
    if (!isPage<T>(page)) return page as Exclude<F, ListedPage<T>>;
    items.push(...page.items);
    query = page.next;
    if (query === "") return { kind: "found", value: items };
  }
  return later(`${service}'s list does not end, or repeats its pages`);
}

const isPage = <T>(result: { readonly kind: string }): result is ListedPage<T> => result.kind === "page";

/** The newer API may omit `last_page`; then `next_page` says whether there is more. */
function hasNextInMeta({ meta }: JsonBody, page: number): boolean {
  const pagination = isObject(meta) && isObject(meta.pagination) ? meta.pagination : {};
  const { last_page: last, next_page: next } = pagination;
  return typeof last === "number" ? page < last : typeof next === "number" && page < next;
}

export function parsed(text: string): JsonBody | undefined {
  const value = objectOfJson(text);
  return value && repeatedKey(text) === undefined ? value : undefined;
}

export const isTtl = (ttl: unknown) =>
  ttl === undefined || ttl === null || (typeof ttl === "number" && Number.isInteger(ttl) && ttl >= 0);

/** For an API that cannot list its zones or records. */
export const cannotList = (service: string, todo: string, what = "zones and records"): ServiceFault => ({
  kind: "unsupported",
  because: `${service} cannot list ${what}`,
  todo,
});
