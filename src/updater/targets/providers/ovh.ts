import { createHash } from "node:crypto";
import { isObject } from "../../../core/is-object.ts";
import { mapping, needed } from "../../../process/settings/mapping.ts";
import type { Value } from "../../../process/settings/setting.ts";
import { hostedFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { secret } from "../../config/secret.ts";
import type { HttpClient } from "../../http/client.ts";
import { type Dialect, errorIn, later, noZone, unexpected } from "../service-answer.ts";
import { createSetTarget } from "../set-target.ts";
import type { TargetConfig, TargetKind } from "../target.ts";
import { unknown } from "../write-answer.ts";
import { isNumber, isText, openJsonApi, parseAny } from "./json-api.ts";
import { listIn, mapFound, type OneRecord, type RecordCalls, setsOfRecords } from "./listed-records.ts";

const settings = mapping(
  {
    ...hostedFields("https://eu.api.ovh.com/1.0"),
    applicationKey: needed(secret("The application key.")),
    applicationSecret: needed(secret("The application secret.")),
    consumerKey: needed(secret("A consumer key with GET, PUT and POST on /domain/zone/*.")),
  },
  {
    title: "Target: ovh",
    description: "OVHcloud's API. For DynHost, use `dyndns2`.",
    keys: oneTrust,
    turn: withTrust,
  },
);

type OvhTarget = TargetConfig & Value<typeof settings>;

export const ovh = {
  ...settings,
  can: { create: true, ttl: true },
  open: async (config: OvhTarget, connect) => createSetTarget(setsOfRecords(ovhCalls(config, await connect(config)))),
} satisfies TargetKind<OvhTarget>;

const service = "OVHcloud";
/** More records of one name and type than this are not read: moor leaves such a set alone anyway. */
const enough = 4;

const dialect: Dialect = {
  service,
  renew:
    "create the three keys at https://eu.api.ovh.com/createToken/ with GET, PUT and POST on /domain/zone/*, and check this machine's clock",
  parse: parseAny,
  errorIn,
};

function ovhCalls(config: OvhTarget, client: HttpClient): RecordCalls<number> {
  const sign = (method: string, path: string, body: string) => {
    const time = String(Math.floor(Date.now() / 1000));
    const url = `${config.url.origin}${config.url.pathname.replace(/\/+$/, "")}${path}`;
    const text = [config.applicationSecret(), config.consumerKey(), method, url, body, time].join("+");
    return { "x-ovh-timestamp": time, "x-ovh-signature": `$1$${createHash("sha1").update(text).digest("hex")}` };
  };
  const api = openJsonApi(
    client,
    dialect,
    ({ method, path, body }) => ({
      ...{ "x-ovh-application": config.applicationKey(), "x-ovh-consumer": config.consumerKey() },
      ...sign(method, path, body),
    }),
    () => [config.applicationKey(), config.applicationSecret(), config.consumerKey()],
  );
  const pathOf = (zone: string) => `/domain/zone/${encodeURIComponent(zone)}`;

  return {
    service,
    async recordsIn(zone, set, signal) {
      const subDomain = set?.name === "@" ? "" : (set?.name ?? "");
      const query = set ? `?fieldType=${set.type}&subDomain=${encodeURIComponent(subDomain)}` : "";
      const answer = await api.get(`${pathOf(zone)}/record${query}`, signal);
      const ids = listIn(answer, { service, key: "list", what: "records", isItem: isNumber, zone });
      if (ids.kind !== "found") return ids;
      const records: OneRecord<number>[] = [];
      for (const id of ids.value.slice(0, set ? enough : undefined)) {
        const one = await api.get(`${pathOf(zone)}/record/${id}`, signal);
        if (one.kind === "absent") return later("the list of records changed while it was read");
        if (one.kind !== "ok") return one;
        if (!isRecord(one.value)) return unexpected("no record", service);
        const { subDomain: name, fieldType: type, target: value, ttl } = one.value;
        // A TTL of 0 means the zone's default.
        records.push({ name: name || "@", type, value, ttl: ttl || null, rest: one.value.id });
      }
      return { kind: "found", value: records };
    },
    async write({ zone, name, type }, { value, ttl }, held, signal) {
      const content = { target: value, ...(ttl === undefined ? {} : { ttl }) };
      const created = { fieldType: type, subDomain: name === "@" ? "" : name, ...content };
      const written = held
        ? await api.send("PUT", `${pathOf(zone)}/record/${held.rest}`, content, [200], signal)
        : await api.send("POST", `${pathOf(zone)}/record`, created, [200, 201], signal);
      if (written.kind !== "accepted") return written;
      // Until this call, the nameservers keep the old record.
      const applied = await api.send("POST", `${pathOf(zone)}/refresh`, {}, [200], signal);
      if (applied.kind === "accepted") return { kind: "accepted", value: undefined };
      const { fault } = applied.kind === "unknown" ? applied : { fault: applied.because };
      return unknown(fault.kind === "absent" ? noZone(zone, service) : { ...fault, afterWrite: true });
    },
    async zones(signal) {
      const answer = await api.get("/domain/zone", signal);
      const found = listIn(answer, { service, key: "list", what: "zones", isItem: isText });
      return mapFound(found, (names) => names.map((name) => ({ id: name, name })));
    },
    close: () => client.close(),
  };
}

type ReadableRecord = {
  readonly id: number;
  readonly fieldType: string;
  readonly subDomain?: string | null;
  readonly target: string;
  readonly ttl: number;
};

const isRecord = (value: unknown): value is ReadableRecord =>
  isObject(value) && isNumber(value.id) && isText(value.fieldType) && isText(value.target) && isNumber(value.ttl);
