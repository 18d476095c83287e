import type {
  DeletedRRset,
  NewRRset,
  ReadableAction,
  ReadableCloudZone,
  ReadableRRset,
  ReadableSetRecord,
  SetReplacement,
} from "../../../contract/rrsets-client.ts";
import { isObject } from "../../../core/is-object.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  dialectOf,
  isTtl,
  itemIn,
  type JsonBody,
  readAnswer,
  readPages,
  type ServiceAnswer,
} from "../../answers/service-answer.ts";
import { readWriteAnswer, type WriteAnswer, type WriteShape } from "../../answers/write-answer.ts";
import type { ProviderAccount, SetName } from "../../provider-calls.ts";

/** The record-set API over HTTP. Zones are addressed by name, so no id is looked up. */
export type RRsetsHttp = {
  zones(signal: AbortSignal): Promise<ServiceAnswer<readonly ReadableCloudZone[]>>;
  sets(zone: string, signal: AbortSignal): Promise<ServiceAnswer<readonly ReadableRRset[]>>;
  set(set: SetName, signal: AbortSignal): Promise<ServiceAnswer<ReadableRRset>>;
  setRecords(set: SetName, replacement: SetReplacement, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>>;
  changeTtl(set: SetName, ttl: number | null, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>>;
  create(zone: string, set: NewRRset, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>>;
  remove(set: SetName, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>>;
  /** Undefined if the service has no serials, and therefore no `change`. Only `moor records` has both. */
  serial(zone: string, signal: AbortSignal): Promise<ServiceAnswer<number | undefined>>;
  /** Many sets in one transaction. With a serial, only if the zone still has it. */
  change(
    zone: string,
    serial: number | undefined,
    changes: readonly (NewRRset | DeletedRRset)[],
    signal: AbortSignal,
  ): Promise<WriteAnswer<ReadableAction>>;
  action(id: number, signal: AbortSignal): Promise<ServiceAnswer<ReadableAction>>;
};

export function rrsetsHttp(
  account: ProviderAccount,
  client: HttpClient,
  { service, now }: { readonly service: string; readonly now: () => number },
): RRsetsHttp {
  const dialect = dialectOf(service);
  const base = /\/v1\/?$/.test(account.url.pathname) ? "" : "/v1";
  const authorization = () => `Bearer ${account.token()}`;
  const get = async (path: string, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> => {
    const headers = { authorization: authorization() };
    return readAnswer(await client.send({ method: "GET", path: base + path, headers }, signal), [200], now(), dialect);
  };
  const post = async (path: string, body: unknown, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>> => {
    const headers = { authorization: authorization(), "content-type": "application/json" };
    const request = { method: "POST", path: base + path, headers, body: JSON.stringify(body) } as const;
    return readWriteAnswer(await client.send(request, signal), actionShape, now(), dialect);
  };
  const remove = async (path: string, signal: AbortSignal): Promise<WriteAnswer<ReadableAction>> => {
    const headers = { authorization: authorization() };
    return readWriteAnswer(
      await client.send({ method: "DELETE", path: base + path, headers }, signal),
      actionShape,
      now(),
      dialect,
    );
  };
  const pages = (path: string, perPage: number, signal: AbortSignal) => (page: number) =>
    get(`${path}?page=${page}&per_page=${perPage}`, signal);

  return {
    zones: (signal) => readPages(pages("/zones", 50, signal), "zones", isZone, ({ id }) => id),
    sets: (zone, signal) => {
      const path = `/zones/${encodeURIComponent(zone)}/rrsets`;
      return readPages(pages(path, 100, signal), "rrsets", isSet, ({ name, type }) => `${name} ${type}`);
    },
    set: async (set, signal) => itemIn(await get(pathOf(set), signal), "rrset", isSet),
    setRecords: (set, replacement, signal) => post(`${pathOf(set)}/actions/set_records`, replacement, signal),
    changeTtl: (set, ttl, signal) => post(`${pathOf(set)}/actions/change_ttl`, { ttl }, signal),
    create: (zone, set, signal) => post(`/zones/${encodeURIComponent(zone)}/rrsets`, set, signal),
    remove: (set, signal) => remove(pathOf(set), signal),
    async serial(zone, signal) {
      const answer = await get(`/zones/${encodeURIComponent(zone)}`, signal);
      if (answer.kind !== "ok") return answer;
      const { serial } = isObject(answer.value.zone) ? answer.value.zone : {};
      return { kind: "ok", value: typeof serial === "number" && Number.isSafeInteger(serial) ? serial : undefined };
    },
    change: (zone, serial, changes, signal) =>
      post(`/zones/${encodeURIComponent(zone)}/changes`, { expected_serial: serial, changes }, signal),
    action: async (id, signal) => itemIn(await get(`/actions/${id}`, signal), "action", isAction),
  };
}

const pathOf = ({ zone, name, type }: SetName) =>
  `/zones/${encodeURIComponent(zone)}/rrsets/${encodeURIComponent(name)}/${type}`;

const isZone = (value: unknown): value is ReadableCloudZone =>
  isObject(value) && Number.isSafeInteger(value.id) && typeof value.name === "string" && isTtl(value.ttl);

const isSet = (value: unknown): value is ReadableRRset =>
  isObject(value) &&
  typeof value.name === "string" &&
  typeof value.type === "string" &&
  isTtl(value.ttl) &&
  Array.isArray(value.records) &&
  value.records.every(isSetRecord);

const isSetRecord = (value: unknown): value is ReadableSetRecord => isObject(value) && typeof value.value === "string";

const isAction = (value: unknown): value is ReadableAction =>
  isObject(value) &&
  Number.isSafeInteger(value.id) &&
  ["running", "success", "error"].includes(String(value.status)) &&
  (value.error === undefined || value.error === null || isObject(value.error));

/** Errors that may occur after the write has started. */
const openCodes: readonly unknown[] = ["server_error", "service_error", "unavailable", "timeout", "bad_gateway"];

const actionShape: WriteShape<ReadableAction> = {
  statuses: [200, 201],
  key: "action",
  isItem: isAction,
  isError: ({ error }) =>
    isObject(error) &&
    typeof error.code === "string" &&
    typeof error.message === "string" &&
    !openCodes.includes(error.code),
};
