import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  errorTextIn,
  type ItemOf,
  isNumber,
  isText,
  type JsonApi,
  listOf,
  openJsonApi,
  parseAny,
  withFields,
} from "../../../providers/answers/json-api.ts";
import { lookupIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type ApiDialect, type JsonBody, noZone, readPages } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

export const bunny = recordsKind(
  hostedSettings(
    "Target: bunny",
    "bunny.net's DNS. Comments, weights and other settings of a record are kept.",
    "https://api.bunny.net",
    "The API key of the account.",
  ),
  bunnyCalls,
);

const service = "bunny.net";
const usualTtl = 300;

/** The numbers that stand for types; those of other types do not matter. */
const types: readonly string[] = ["A", "AAAA", "CNAME", "TXT", "MX"];

const dialect: ApiDialect = {
  service,
  renew: "copy the API key from bunny.net's account settings to the file named in the config",
  parse: parseAny,
  errorIn: errorTextIn("Message"),
};

function bunnyCalls(config: TokenTarget, client: HttpClient): RecordCalls<{ zone: number; record: JsonBody }> {
  const api = openJsonApi(client, dialect, () => ({ accesskey: config.token() }));
  const zones = bunnyZones(api);

  return {
    service,
    async recordsIn(zone, _, signal) {
      const zoneLookup = await zones.named(zone, signal);
      if (zoneLookup.kind !== "found") return zoneLookup;
      const { Id, Records } = zoneLookup.value;
      const records = Records.map((record) => ({
        name: record.Name === "" ? "@" : record.Name,
        type: types[record.Type] ?? `TYPE${record.Type}`,
        value: record.Value,
        ttl: record.Ttl,
        raw: { zone: Id, record },
      }));
      return { kind: "found", value: records };
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      if (current) {
        const { record } = current.raw;
        const path = `/dnszone/${current.raw.zone}/records/${String(record.Id)}`;
        const written = await api.send(
          "POST",
          path,
          { ...record, Value: value, Ttl: ttl ?? record.Ttl },
          [204],
          signal,
        );
        return withoutContent(written);
      }
      const zoneLookup = await zones.named(zone, signal);
      if (zoneLookup.kind !== "found") return { kind: "refused", because: zoneLookup };
      const content = { Type: types.indexOf(type), Name: name === "@" ? "" : name, Value: value, Ttl: ttl ?? usualTtl };
      const written = await api.send("PUT", `/dnszone/${zoneLookup.value.Id}/records`, content, [201], signal);
      return withoutContent(written);
    },
    async zones(signal) {
      const answer = await zones.like("", signal);
      return mapFound(lookupIn(answer, service), (all) =>
        all.map(({ Id, Domain }) => ({ id: String(Id), name: Domain })),
      );
    },
    close: () => client.close(),
  };
}

function bunnyZones(api: JsonApi) {
  /** The search finds parts of names too. */
  const like = (name: string, signal: AbortSignal) =>
    readPages(
      (page) => {
        const search = name === "" ? "" : `&search=${encodeURIComponent(name)}`;
        return api.get(`/dnszone?page=${page}&perPage=1000${search}`, signal);
      },
      "Items",
      isZone,
      ({ Id }) => Id,
      ({ HasMoreItems: hasMore }) => hasMore === true,
    );
  const named = async (name: string, signal: AbortSignal): Promise<Lookup<ItemOf<typeof isZone>>> => {
    const zones = lookupIn(await like(name, signal), service);
    if (zones.kind !== "found") return zones;
    const zone = zones.value.find(({ Domain }) => Domain.toLowerCase() === name);
    return zone ? { kind: "found", value: zone } : noZone(name, service);
  };
  return { like, named };
}

/** `Name` is relative, and empty for the zone itself. */
const isRecord = withFields({ Id: isNumber, Type: isNumber, Ttl: isNumber, Value: isText, Name: isText });

const isZone = withFields({ Id: isNumber, Domain: isText, Records: listOf(isRecord) });
