import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../core/is-object.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { DatabaseOptions } from "../io/database-options.ts";

/** Which record service: that of a config, or the store of this machine. */
export type ManageOptions = Omit<DatabaseOptions, "data"> & {
  readonly data?: string;
  readonly config?: string;
  readonly target?: string;
  readonly account: string;
  readonly json?: boolean;
};

export type JsonFields = Readonly<Record<string, unknown>>;

export type ApiMethod = "GET" | "POST" | "DELETE";

/** The record-set API of a service. */
export type RecordsApi = {
  /** `path` is below `/v1`. Throws if there is no answer. */
  send(
    method: ApiMethod,
    path: string,
    body?: JsonFields,
  ): Promise<{ readonly status: number; readonly body: JsonFields }>;
  close(): Promise<void>;
  /**
   * The store of this machine: what an answered write leaves to do is done by the service, which may not be running.
   */
  readonly isLocal?: true;
};

/** Names of classless reverse zones contain a slash. */
export const zonePath = (zone: string): string => `/zones/${encodeURIComponent(zone)}`;

/** The service refused a call; the message is its own. */
export class Refused extends Error {
  readonly status: number;
  readonly fields: readonly { readonly name: string; readonly messages: readonly string[] }[];
  constructor(status: number, body: JsonFields) {
    const error = isObject(body.error) ? body.error : {};
    const listed = isObject(error.details) && Array.isArray(error.details.fields) ? error.details.fields : [];
    const fields = listed.flatMap((field) =>
      isObject(field) && Array.isArray(field.messages)
        ? [{ name: String(field.name), messages: field.messages.map(String) }]
        : [],
    );
    const details = fields.flatMap(({ messages }) => messages);
    const message = typeof error.message === "string" ? error.message : `the service answered ${status}`;
    // moor's own details repeat the message, and say what to do.
    const rest = details.filter((detail) => !message.includes(detail));
    const joint = rest.length < details.length ? "; " : ": ";
    super(rest.length > 0 ? `${message}${joint}${rest.join("; ")}` : message);
    this.status = status;
    this.fields = fields;
  }
}

/** Throws what the service refuses, except the statuses that the caller expects. */
export async function call(
  api: RecordsApi,
  method: ApiMethod,
  path: string,
  {
    body,
    expected = [],
  }: { readonly body?: JsonFields | undefined; readonly expected?: readonly number[] | undefined } = {},
): Promise<{ readonly status: number; readonly body: JsonFields }> {
  const answer = await api.send(method, path, body);
  if (answer.status >= 400 && !expected.includes(answer.status)) throw new Refused(answer.status, answer.body);
  return answer;
}

/** A write, and the end of the action that it starts: some services continue after their answer. */
export async function write(
  api: RecordsApi,
  method: ApiMethod,
  path: string,
  {
    body,
    expected,
    signal,
    longest = longestAction,
  }: {
    readonly body?: JsonFields | undefined;
    readonly expected?: readonly number[] | undefined;
    readonly signal: AbortSignal;
    readonly longest?: number;
  },
): Promise<{ readonly status: number; readonly body: JsonFields }> {
  const answer = await call(api, method, path, { body, expected });
  let action = actionIn(answer.body);
  const end = performance.now() + longest;
  for (let pause = 100; action?.status === "running" && !api.isLocal; pause = Math.min(2 * pause, 5_000)) {
    if (performance.now() > end) throw new Refused(answer.status, { error: stillRunning(action.id, longest) });
    await sleep(pause, undefined, { signal });
    action = actionIn((await call(api, "GET", `/actions/${action.id}`)).body);
  }
  if (action?.status === "error") throw new Refused(answer.status, { error: action.error });
  return answer;
}

/** Milliseconds: a provider may be out of reach for days. */
const longestAction = 300_000;

const stillRunning = (id: string, longest: number) => ({
  message:
    `action ${id} is still running after ${longest / 1_000} seconds, and goes on; ` +
    "if the zone is published at a provider, `moor zone state` shows what waits",
});

const actionIn = ({ action }: JsonFields) =>
  isObject(action) ? { id: String(action.id), status: String(action.status), error: action.error } : undefined;

/** The pages of a list, each read when it is asked for. */
export async function* pagesOf(
  api: RecordsApi,
  path: string,
  key: string,
  perPage: number,
): AsyncGenerator<readonly JsonFields[]> {
  for (let page: unknown = 1; typeof page === "number"; ) {
    const { body } = await call(api, "GET", `${path}${path.includes("?") ? "&" : "?"}page=${page}&per_page=${perPage}`);
    const listed = body[key];
    if (!Array.isArray(listed)) throw new Error(`the service sent no ${key}`);
    yield listed.filter(isObject);
    const pagination = isObject(body.meta) && isObject(body.meta.pagination) ? body.meta.pagination : {};
    page = pagination.next_page;
  }
}

/** All pages of a list. */
export async function listAll(...list: Parameters<typeof pagesOf>): Promise<readonly JsonFields[]> {
  const all: JsonFields[] = [];
  for await (const page of pagesOf(...list)) all.push(...page);
  return all;
}

/** The options of a suggested command, for the same service. */
export const sameService = ({ data, database, config, target, account }: ManageOptions): string =>
  [
    ...(database === undefined ? [] : [`--database ${shellWord(database)}`]),
    ...(data === undefined ? [] : [`--data ${shellWord(data)}`]),
    ...(data === undefined && database === undefined && config !== undefined && config !== "moor.yaml"
      ? [`--config ${shellWord(config)}`]
      : []),
    ...(target === undefined ? [] : [`--target ${shellWord(target)}`]),
    ...(account === "main" ? [] : [`--account ${shellWord(account)}`]),
  ].join(" ");
