import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  errorTextIn,
  type ItemOf,
  isNumber,
  isText,
  type JsonApi,
  openJsonApi,
  optional,
  parseAny,
  withFields,
} from "../../../providers/answers/json-api.ts";
import { lookupIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type ApiDialect, noZone, readPages } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import type { SetName } from "../../../providers/provider-calls.ts";
import { type KeyPairTarget, keyPairSettings } from "../token-target.ts";
import { type OneRecord, type RecordCalls, recordsKind } from "./listed-records.ts";

export const spaceship = recordsKind(
  keyPairSettings(
    "Target: spaceship",
    "Spaceship's API. The TTL is from 60 to 3600. The new address is added before the old one is removed.",
    "https://spaceship.dev/api",
    "The API key, with the permissions dnsrecords:read and dnsrecords:write. `moor zone list` needs domains:read too.",
    "The API secret.",
  ),
  spaceshipCalls,
);

const service = "Spaceship";
const usualTtl = 1800;
/** The most that each list gives at a time. */
const perPage = { records: 500, domains: 100 };

const dialect: ApiDialect = {
  service,
  renew:
    "create an API key with the permissions dnsrecords:read and dnsrecords:write, and put it in the files named in the config",
  parse: parseAny,
  errorIn: errorTextIn("detail"),
};

function spaceshipCalls(config: KeyPairTarget, client: HttpClient): RecordCalls<Item> {
  const api = openJsonApi(client, dialect, () => ({ "x-api-key": config.key(), "x-api-secret": config.secret() }));
  /** Addresses that a new one was added for, by set, until their removal is confirmed. */
  const replaced = new Map<string, Item>();
  const keyOf = ({ zone, name, type }: SetName) => `${zone}/${name}/${type}`;
  const lists = spaceshipLists(api);

  return {
    service,
    /** The old address is removed when the list shows the new one beside it: the name always has an address. */
    async recordsIn(zone, set, signal) {
      const recordsLookup = await lists.records(zone, signal);
      const old = set && replaced.get(keyOf(set));
      if (recordsLookup.kind !== "found" || !set || !old) return recordsLookup;
      const values = recordsLookup.value.filter(({ name, type }) => name === set.name && type === set.type);
      const isBeside = values.length === 2 && values.some(({ value }) => value === old.address);
      if (!isBeside) return recordsLookup;
      const { type, name, address } = old;
      const removed = await api.send("DELETE", pathOf(zone), [{ type, name, address }], [204], signal);
      if (removed.kind === "refused")
        return removed.because.kind === "absent" ? noZone(zone, service) : removed.because;
      if (removed.kind === "unknown") return removed.fault;
      replaced.delete(keyOf(set));
      return lists.records(zone, signal);
    },
    async write(set, { value, ttl }, current, signal) {
      const { zone, name, type } = set;
      const item = { type, name, address: value, ttl: ttl ?? current?.ttl ?? usualTtl };
      // Before the write, because its answer may be lost.
      if (current && current.raw.address !== value) replaced.set(keyOf(set), current.raw);
      const written = await api.send("PUT", pathOf(zone), { force: true, items: [item] }, [204], signal);
      return withoutContent(written);
    },
    async zones(signal) {
      const answer = await lists.domains(signal);
      return mapFound(lookupIn(answer, service), (domains) => domains.map(({ name }) => ({ id: name, name })));
    },
    close: () => client.close(),
  };
}

const pathOf = (zone: string) => `/v1/dns/records/${encodeURIComponent(zone)}`;

function spaceshipLists(api: JsonApi) {
  const listed = <T>(
    path: string,
    take: number,
    isItem: (value: unknown) => value is T,
    idIn: (item: T) => unknown,
    signal: AbortSignal,
  ) =>
    readPages(
      (page) => api.get(`${path}?take=${take}&skip=${(page - 1) * take}`, signal),
      "items",
      isItem,
      idIn,
      ({ total }, page) => isNumber(total) && total > page * take,
    );
  const records = async (zone: string, signal: AbortSignal): Promise<Lookup<readonly OneRecord<Item>[]>> => {
    const answer = await listed(pathOf(zone), perPage.records, isItem, (item) => JSON.stringify(item), signal);
    if (answer.kind !== "ok") return answer.kind === "absent" ? noZone(zone, service) : answer;
    const all = answer.value.map((item) => ({
      name: item.name,
      type: item.type,
      value: item.address ?? item.value ?? "",
      ttl: item.ttl,
      raw: item,
    }));
    return { kind: "found", value: all };
  };
  const domains = (signal: AbortSignal) => listed("/v1/domains", perPage.domains, isDomain, ({ name }) => name, signal);
  return { records, domains };
}

/** `name` is relative; `@` is the zone itself. Records of other types have other fields. */
const hasFields = withFields({
  type: isText,
  name: isText,
  ttl: isNumber,
  address: optional(isText),
  value: optional(isText),
});

type Item = ItemOf<typeof hasFields>;

const isItem = (value: unknown): value is Item =>
  hasFields(value) && (!/^A{1,4}$/.test(value.type) || isText(value.address));

const isDomain = withFields({ name: isText });
