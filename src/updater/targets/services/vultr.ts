import { isObject } from "../../../core/is-object.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  errorTextIn,
  isNumber,
  isText,
  openJsonApi,
  parseAny,
  withFields,
} from "../../../providers/answers/json-api.ts";
import {
  type ApiDialect,
  followPages,
  type JsonBody,
  type ListedPage,
  noZone,
  type ServiceAnswer,
  unexpected,
  unknownCall,
} from "../../../providers/answers/service-answer.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

export const vultr = recordsKind(
  hostedSettings(
    "Target: vultr",
    "Vultr's DNS, API version 2. The addresses from which the key is used must be allowed in its settings.",
    "https://api.vultr.com",
    "The API key.",
  ),
  vultrCalls,
);

const service = "Vultr";
const usualTtl = 300;

const dialect: ApiDialect = {
  service,
  renew:
    "enable the API in Vultr's account settings, allow this address there, and put the key in the file named in the config",
  parse: parseAny,
  errorIn: errorTextIn("error"),
};

function vultrCalls(config: TokenTarget, client: HttpClient): RecordCalls<string> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${config.token()}` }));
  const pathOf = (zone: string) => `/v2/domains/${encodeURIComponent(zone)}/records`;
  const listed = <T>(path: string, key: string, isItem: (value: unknown) => value is T, signal: AbortSignal) =>
    followPages(service, "?per_page=500", async (query): Promise<ListedPage<T> | ServiceAnswer<JsonBody>> => {
      const answer = await api.get(path + query, signal);
      if (answer.kind !== "ok") return answer;
      const { [key]: items, meta } = answer.value;
      if (!Array.isArray(items) || !items.every(isItem)) return unexpected(`no list of ${key}`, service);
      const links = isObject(meta) && isObject(meta.links) ? meta.links : {};
      const next = isText(links.next) && links.next !== "" ? links.next : undefined;
      return {
        kind: "page",
        items,
        next: next === undefined ? "" : `?per_page=500&cursor=${encodeURIComponent(next)}`,
      };
    });

  return {
    service,
    async recordsIn(zone, _, signal) {
      const recordsLookup = await listed(pathOf(zone), "records", isRecord, signal);
      if (recordsLookup.kind === "absent") return noZone(zone, service);
      if (recordsLookup.kind !== "found") return recordsLookup as Exclude<typeof recordsLookup, { kind: "ok" }>;
      const records = recordsLookup.value.map(({ id, name, type, data, ttl }) => ({
        name: name === "" ? "@" : name,
        type,
        value: data,
        ttl,
        raw: id,
      }));
      return { kind: "found", value: records };
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const written = current
        ? await api.send(
            "PATCH",
            `${pathOf(zone)}/${encodeURIComponent(current.raw)}`,
            { data: value, ttl },
            [204],
            signal,
          )
        : await api.send(
            "POST",
            pathOf(zone),
            { name: name === "@" ? "" : name, type, ttl: ttl ?? usualTtl, data: value },
            [201],
            signal,
          );
      return withoutContent(written);
    },
    async zones(signal) {
      const domainsLookup = await listed("/v2/domains", "domains", isDomain, signal);
      if (domainsLookup.kind === "absent") return unknownCall(domainsLookup, service);
      if (domainsLookup.kind !== "found") return domainsLookup as Exclude<typeof domainsLookup, { kind: "ok" }>;
      return { kind: "found", value: domainsLookup.value.map(({ domain }) => ({ id: domain, name: domain })) };
    },
    close: () => client.close(),
  };
}

/** `name` is relative, and empty for the zone itself. */
const isRecord = withFields({ id: isText, type: isText, name: isText, data: isText, ttl: isNumber });

const isDomain = withFields({ domain: isText });
