import type { ReadableRecord, ReadableZone, RecordReplacement } from "../../../contract/records-v1-client.ts";
import { isObject } from "../../../core/is-object.ts";
import type { HttpClient, HttpRequest } from "../../../lib/http-client/client.ts";
import {
  dialectOf,
  isTtl,
  itemIn,
  type JsonBody,
  readAnswer,
  readPages,
  type ServiceAnswer,
} from "../../answers/service-answer.ts";
import { readWriteAnswer, readWritten, type WriteAnswer, type WriteShape } from "../../answers/write-answer.ts";
import type { ProviderAccount } from "../../provider-calls.ts";

export type V1Http = ReturnType<typeof v1Http>;

/** The v1 API over HTTP. */
export function v1Http(
  account: ProviderAccount,
  client: HttpClient,
  { service, now }: { readonly service: string; readonly now: () => number },
) {
  const dialect = dialectOf(service);
  const base = /\/api\/v1\/?$/.test(account.url.pathname) ? "" : "/api/v1";
  const send = (request: Omit<HttpRequest, "headers">, signal: AbortSignal) => {
    const json = request.body === undefined ? {} : { "content-type": "application/json" };
    const headers = { "auth-api-token": account.token(), ...json };
    return client.send({ ...request, path: base + request.path, headers }, signal);
  };
  const get = async (path: string, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> =>
    readAnswer(await send({ method: "GET", path }, signal), [200], now(), dialect);
  const write = async (method: "PUT" | "POST", path: string, record: RecordReplacement, signal: AbortSignal) =>
    readWriteAnswer(await send({ method, path, body: JSON.stringify(record) }, signal), recordShape, now(), dialect);
  const list = <T extends { readonly id: string }>(
    path: string,
    key: string,
    isItem: (value: unknown) => value is T,
    signal: AbortSignal,
  ) => {
    const further = (page: number) => `${path}${path.includes("?") ? "&" : "?"}page=${page}&per_page=100`;
    return readPages(
      (page) => get(page === 1 ? path : further(page), signal),
      key,
      isItem,
      ({ id }) => id,
    );
  };

  return {
    // With a name there is no second page, and the original service rejects a name together with a page.
    zones: (name: string | undefined, signal: AbortSignal): Promise<ServiceAnswer<readonly ReadableZone[]>> =>
      list(name === undefined ? "/zones" : `/zones?name=${encodeURIComponent(name)}`, "zones", isZone, signal),
    records: (zoneId: string, signal: AbortSignal): Promise<ServiceAnswer<readonly ReadableRecord[]>> =>
      list(`/records?zone_id=${encodeURIComponent(zoneId)}`, "records", isRecord, signal),
    record: async (id: string, signal: AbortSignal): Promise<ServiceAnswer<ReadableRecord>> =>
      itemIn(await get(pathOf(id), signal), "record", isRecord),
    replace: async (
      id: string,
      replacement: RecordReplacement,
      signal: AbortSignal,
    ): Promise<WriteAnswer<ReadableRecord>> => write("PUT", pathOf(id), replacement, signal),
    create: async (record: RecordReplacement, signal: AbortSignal): Promise<WriteAnswer<ReadableRecord>> =>
      write("POST", "/records", record, signal),
    /** To remove a record that is gone is no fault. */
    async remove(id: string, signal: AbortSignal): Promise<WriteAnswer<undefined>> {
      const removed = readWritten(await send({ method: "DELETE", path: pathOf(id) }, signal), [200], now(), dialect);
      const isDone = removed.kind === "accepted" || (removed.kind === "refused" && removed.because.kind === "absent");
      return isDone ? { kind: "accepted", value: undefined } : removed;
    },
  };
}

const pathOf = (id: string) => `/records/${encodeURIComponent(id)}`;

const isZone = (value: unknown): value is ReadableZone => hasTexts(value, ["id", "name"]);

const isRecord = (value: unknown): value is ReadableRecord =>
  hasTexts(value, ["id", "type", "name", "value", "zone_id"]);

/** `{message}` comes from the gateway of the original service, `{error: "text"}` from its JSON parser. */
const recordShape: WriteShape<ReadableRecord> = {
  statuses: [200],
  key: "record",
  isItem: isRecord,
  isError({ error, message }, status) {
    if (isObject(error)) return typeof error.message === "string" && error.code === status;
    const text = error ?? message;
    return typeof text === "string" && text !== "";
  },
};

const hasTexts = (value: unknown, keys: readonly string[]) =>
  isObject(value) && keys.every((key) => typeof value[key] === "string") && isTtl(value.ttl);
