import { isObject } from "../../../core/is-object.ts";
import { absoluteName, zoneNameOf } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  type ItemOf,
  isNumber,
  isText,
  openJsonApi,
  parseAny,
  withFields,
} from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type ApiDialect, noZone } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import type { CurrentContent, ListedZone } from "../../../providers/provider-calls.ts";
import { listedName } from "../set-target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

export const ionos = recordsKind(
  hostedSettings(
    "Target: ionos",
    "The DNS API of IONOS hosting. The lowest TTL is 60.",
    "https://api.hosting.ionos.com/dns/v1",
    "The API key: its public prefix, a dot, and its secret.",
  ),
  ionosCalls,
);

const service = "IONOS";
const usualTtl = 300;

/** Errors are lists: `[{"code": "UNAUTHORIZED", "message": "…"}]`. */
const dialect: ApiDialect = {
  service,
  renew:
    "create an API key at https://developer.hosting.ionos.com/keys, and put PREFIX.SECRET in the file named in the config",
  parse: parseAny,
  errorIn(status, body) {
    const [first] = Array.isArray(body?.list) ? body.list : [];
    const { code, message } = isObject(first) ? first : {};
    const isError = status >= 400 && isText(code);
    return { status, code: "", message: isError ? printable(isText(message) ? `${code}: ${message}` : code) : "" };
  },
};

type Raw = { readonly id: string; readonly disabled: boolean };

function ionosCalls(config: TokenTarget, client: HttpClient): RecordCalls<Raw> {
  const api = openJsonApi(client, dialect, () => ({ "x-api-key": config.token() }));
  const zoneIds = new Map<string, string>();

  const zones = async (signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>> => {
    const answer = await api.get("/zones", signal);
    const lookup = listIn(answer, { service, key: "list", what: "zones", isItem: isZone });
    return mapFound(lookup, (list) => {
      for (const { id, name } of list) zoneIds.set(zoneNameOf(name), id);
      return list.map(({ id, name }) => ({ id, name: zoneNameOf(name) }));
    });
  };

  return {
    service,
    async recordsIn(zone, set, signal) {
      if (!zoneIds.has(zone)) {
        const zonesLookup = await zones(signal);
        if (zonesLookup.kind !== "found") return zonesLookup;
        if (!zoneIds.has(zone)) return noZone(zone, service);
      }
      const query = set ? `?recordName=${encodeURIComponent(absoluteName(set.name, zone))}&recordType=${set.type}` : "";
      const answer = await api.get(`/zones/${zoneIds.get(zone)}${query}`, signal);
      if (answer.kind === "absent") zoneIds.delete(zone);
      const lookup = listIn(answer, { service, key: "records", what: "records", isItem: isRecord, zone });
      return mapFound(lookup, (records) =>
        records.map(({ id, name, type, content, ttl, disabled }) => ({
          name: listedName(name, zone),
          type,
          value: content,
          ttl,
          raw: { id, disabled: disabled === true },
        })),
      );
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const path = `/zones/${zoneIds.get(zone)}/records`;
      const owner = absoluteName(name, zone);
      const content = {
        content: value,
        ttl: ttl ?? current?.ttl ?? usualTtl,
        disabled: current?.raw.disabled ?? false,
      };
      const written = current
        ? await api.send("PUT", `${path}/${current.raw.id}`, content, [200], signal)
        : await api.send("POST", path, [{ name: owner, type, ...content }], [201], signal);
      if (written.kind !== "accepted") return written;
      const [stored] = current ? [written.value] : Array.isArray(written.value.list) ? written.value.list : [];
      const isIt = isRecord(stored) && stored.type === type && zoneNameOf(stored.name) === owner;
      return { kind: "accepted", value: isIt ? currentSetOf(stored) : undefined };
    },
    zones,
    close: () => client.close(),
  };
}

const isRecord = withFields({ id: isText, name: isText, type: isText, content: isText, ttl: isNumber });

const currentSetOf = ({ content, ttl }: ItemOf<typeof isRecord>): CurrentContent => ({ values: [content], ttl });

const isZone = withFields({ id: isText, name: isText });
