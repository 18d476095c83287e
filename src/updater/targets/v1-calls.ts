import type { ReadableRecord, ReadableZone, RecordReplacement } from "../../contract/records-v1-client.ts";
import { isObject } from "../../core/is-object.ts";
import type { HttpClient, HttpRequest } from "../../lib/http-client/client.ts";
import {
  type Answer,
  type Body,
  isTtl,
  readAnswer,
  readPages,
  unexpected,
} from "../../providers/answers/service-answer.ts";
import { readWriteAnswer, type WriteAnswer, type WriteShape } from "../../providers/answers/write-answer.ts";
import type { TokenTarget } from "./token-target.ts";

/** The calls of the v1 API that an updater needs. */
export type V1Calls = {
  zones(name: string | undefined, signal: AbortSignal): Promise<Answer<readonly ReadableZone[]>>;
  records(zoneId: string, signal: AbortSignal): Promise<Answer<readonly ReadableRecord[]>>;
  record(id: string, signal: AbortSignal): Promise<Answer<ReadableRecord>>;
  replace(id: string, replacement: RecordReplacement, signal: AbortSignal): Promise<WriteAnswer<ReadableRecord>>;
};

export function createV1Calls(config: TokenTarget, client: HttpClient, now: () => number): V1Calls {
  const base = /\/api\/v1\/?$/.test(config.url.pathname) ? "" : "/api/v1";
  const send = (request: Omit<HttpRequest, "headers">, signal: AbortSignal) => {
    const json = request.body === undefined ? {} : { "content-type": "application/json" };
    const headers = { "auth-api-token": config.token(), ...json };
    return client.send({ ...request, path: base + request.path, headers }, signal);
  };
  const get = async (path: string, signal: AbortSignal): Promise<Answer<Body>> =>
    readAnswer(await send({ method: "GET", path }, signal), [200], now());
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
    zones: (name, signal) =>
      list(name === undefined ? "/zones" : `/zones?name=${encodeURIComponent(name)}`, "zones", isZone, signal),
    records: (zoneId, signal) => list(`/records?zone_id=${encodeURIComponent(zoneId)}`, "records", isRecord, signal),
    record: async (id, signal) => recordIn(await get(`/records/${encodeURIComponent(id)}`, signal)),
    replace: async (id, replacement, signal) => {
      const path = `/records/${encodeURIComponent(id)}`;
      const outcome = await send({ method: "PUT", path, body: JSON.stringify(replacement) }, signal);
      return readWriteAnswer(outcome, replaced, now());
    },
  };
}

const recordIn = (answer: Answer<Body>): Answer<ReadableRecord> => {
  if (answer.kind !== "ok") return answer;
  const record = answer.value.record;
  return isRecord(record) ? { kind: "ok", value: record } : unexpected("no record");
};

const isZone = (value: unknown): value is ReadableZone => hasTexts(value, ["id", "name"]);

const isRecord = (value: unknown): value is ReadableRecord =>
  hasTexts(value, ["id", "type", "name", "value", "zone_id"]);

/** `{message}` comes from the gateway of the original service, `{error: "text"}` from its JSON parser. */
const replaced: WriteShape<ReadableRecord> = {
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
