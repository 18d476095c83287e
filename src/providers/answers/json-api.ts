import { isObject, jsonOf } from "../../core/is-object.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../lib/http-client/client.ts";
import {
  type ApiDialect,
  followPages,
  type JsonBody,
  type ListedPage,
  readAnswer,
  readPages,
  type ServiceAnswer,
} from "./service-answer.ts";
import { readWritten, type WriteAnswer } from "./write-answer.ts";

export type JsonApi = ReturnType<typeof openJsonApi>;

/**
 * The calls of a provider's API: JSON in, JSON out. `credentials`: headers, read for each request because a secret may
 * be renewed.
 */
export function openJsonApi(
  client: HttpClient,
  dialect: ApiDialect,
  credentials: () => Readonly<Record<string, string>>,
  now: () => number = Date.now,
) {
  const ask = (path: string, signal: AbortSignal) =>
    client.send({ method: "GET", path, headers: credentials() }, signal);
  return {
    get: async (path: string, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> =>
      readAnswer(await ask(path, signal), [200], now(), dialect),
    /** A list as the whole body, over all pages: each but the last has a link to the next (RFC 8288). */
    async list(path: string, first: string, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> {
      const { service } = dialect;
      const lookup = await followPages(
        service,
        first,
        async (query): Promise<ListedPage<unknown> | ServiceAnswer<JsonBody>> => {
          const outcome = await ask(path + query, signal);
          const answer = readAnswer(outcome, [200], now(), dialect);
          if (answer.kind !== "ok" || !Array.isArray(answer.value.list)) return answer;
          return { kind: "page", items: answer.value.list, next: nextQuery(outcome) };
        },
      );
      return lookup.kind === "found" ? { kind: "ok", value: { list: lookup.value } } : lookup;
    },
    /** A list under `result`, over its numbered pages; the query of `path` says how long one is. */
    pages: <T>(
      path: string,
      { isItem, idOf, hasNext }: PagesOf<T>,
      signal: AbortSignal,
    ): Promise<ServiceAnswer<readonly T[]>> =>
      readPages(
        async (page) => readAnswer(await ask(`${path}&page=${page}`, signal), [200], now(), dialect),
        "result",
        isItem,
        idOf,
        hasNext,
      ),
    /** `statuses`: those of a plain success. */
    async send(
      method: Exclude<HttpRequest["method"], "GET">,
      path: string,
      content: unknown,
      statuses: readonly number[],
      signal: AbortSignal,
    ): Promise<WriteAnswer<JsonBody>> {
      const body = JSON.stringify(content);
      const headers = { ...credentials(), "content-type": "application/json" };
      const outcome = await client.send({ method, path, headers, body }, signal);
      return readWritten(outcome, statuses, now(), dialect);
    },
  };
}

type PagesOf<T> = {
  readonly isItem: (value: unknown) => value is T;
  readonly idOf: (item: T) => unknown;
  readonly hasNext: (answer: JsonBody, page: number) => boolean;
};

/**
 * Only the query of the link is used: behind a proxy its host and path are wrong, and the credentials are for the
 * configured host.
 */
function nextQuery(outcome: HttpOutcome): string {
  const header = outcome.kind === "answer" ? String(outcome.headers.link ?? "") : "";
  for (const [, target = "", rest = ""] of header.matchAll(/<([^>]*)>([^<]*)/g))
    if (/;\s*rel="?next\b/i.test(rest) && URL.canParse(target, "http://x")) return new URL(target, "http://x").search;
  return "";
}

/** A list as the whole body becomes `{ list: … }`, and an empty body or `null` an empty object. */
export function parseAny(text: string): JsonBody | undefined {
  if (text.trim() === "") return {};
  const value = jsonOf(text);
  if (value === null) return {};
  if (Array.isArray(value)) return { list: value };
  return isObject(value) ? value : undefined;
}

/** For an API whose errors are a text in one field. */
export const errorTextIn =
  (field: string): ApiDialect["errorIn"] =>
  (status, body) => {
    const text = body?.[field];
    return { status, code: "", message: status >= 400 && isText(text) ? printable(text) : "" };
  };

export const isText = (value: unknown): value is string => typeof value === "string";
export const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);

type Guard<T> = (value: unknown) => value is T;

/** The type that a check proves. */
export type ItemOf<G> = G extends Guard<infer T> ? T : never;

/** Whether a part of an answer has these fields; others do not matter. Its type follows from them. */
export const withFields =
  <F extends Readonly<Record<string, Guard<unknown>>>>(fields: F) =>
  (value: unknown): value is JsonBody & { readonly [K in keyof F]: ItemOf<F[K]> } =>
    isObject(value) && Object.entries(fields).every(([key, isRight]) => isRight(value[key]));

export const listOf =
  <T>(isItem: Guard<T>) =>
  (value: unknown): value is readonly T[] =>
    Array.isArray(value) && value.every(isItem);

export const optional =
  <T>(isRight: Guard<T>) =>
  (value: unknown): value is T | undefined =>
    value === undefined || isRight(value);
