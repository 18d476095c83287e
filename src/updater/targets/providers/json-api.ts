import { isObject } from "../../../core/is-object.ts";
import type { HttpClient, HttpRequest } from "../../http/client.ts";
import { type Answer, type Body, type Dialect, readAnswer } from "../service-answer.ts";
import { readWritten, type WriteAnswer } from "../write-answer.ts";

/** The calls of a provider's API: JSON in, JSON out. */
export type JsonApi = {
  get(path: string, signal: AbortSignal): Promise<Answer<Body>>;
  /** `statuses`: those of a plain success. */
  send(
    method: Exclude<HttpRequest["method"], "GET">,
    path: string,
    body: unknown,
    statuses: readonly number[],
    signal: AbortSignal,
  ): Promise<WriteAnswer<Body>>;
};

/** `credentials`: headers, read for each request because a secret may be renewed. */
export function openJsonApi(
  client: HttpClient,
  dialect: Dialect,
  credentials: () => Readonly<Record<string, string>>,
  now: () => number = Date.now,
): JsonApi {
  return {
    async get(path, signal) {
      const outcome = await client.send({ method: "GET", path, headers: credentials() }, signal);
      return readAnswer(outcome, [200], now(), dialect);
    },
    async send(method, path, content, statuses, signal) {
      const body = JSON.stringify(content);
      const headers = { ...credentials(), "content-type": "application/json" };
      const outcome = await client.send({ method, path, headers, body }, signal);
      return readWritten(outcome, statuses, now(), dialect);
    },
  };
}

/** A list as the whole body becomes `{ list: … }`, and an empty body or `null` an empty object. */
export function parseAny(text: string): Body | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    if (Array.isArray(value)) return { list: value };
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const isText = (value: unknown): value is string => typeof value === "string";
export const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);
