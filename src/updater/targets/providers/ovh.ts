import { createHash } from "node:crypto";
import { isObject } from "../../../core/is-object.ts";
import { mapping, needed } from "../../../process/settings/mapping.ts";
import type { Value } from "../../../process/settings/setting.ts";
import { hostedFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { secret } from "../../config/secret.ts";
import type { HttpClient } from "../../http/client.ts";
import { type Dialect, errorIn, later, noZone, unexpected, unknownCall } from "../service-answer.ts";
import { createSetTarget, type SetCalls } from "../set-target.ts";
import type { Lookup, TargetConfig, TargetKind } from "../target.ts";
import { unknown } from "../write-answer.ts";
import { isNumber, isText, openJsonApi, parseAny } from "./json-api.ts";

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
  open: async (config: OvhTarget, connect) => createSetTarget(ovhCalls(config, await connect(config))),
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

function ovhCalls(config: OvhTarget, client: HttpClient): SetCalls<number> {
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

  const recordsIn = async (
    zone: string,
    query: string,
    most: number,
    signal: AbortSignal,
  ): Promise<Lookup<readonly ReadableRecord[]>> => {
    const answer = await api.get(`${pathOf(zone)}/record${query}`, signal);
    if (answer.kind === "absent") return noZone(zone, service);
    if (answer.kind !== "ok") return answer;
    const { list } = answer.value;
    if (!Array.isArray(list) || !list.every(isNumber)) return unexpected("no list of records", service);
    const records: ReadableRecord[] = [];
    for (const id of list.slice(0, most)) {
      const one = await api.get(`${pathOf(zone)}/record/${id}`, signal);
      if (one.kind === "absent") return later("the list of records changed while it was read");
      if (one.kind !== "ok") return one;
      if (!isRecord(one.value)) return unexpected("no record", service);
      records.push(one.value);
    }
    return { kind: "found", value: records };
  };

  return {
    service,
    async read({ zone, name, type }, signal) {
      const subDomain = name === "@" ? "" : name;
      const found = await recordsIn(
        zone,
        `?fieldType=${type}&subDomain=${encodeURIComponent(subDomain)}`,
        enough,
        signal,
      );
      if (found.kind !== "found") return found;
      const records = found.value.filter((each) => each.fieldType === type && (each.subDomain ?? "") === subDomain);
      const [first] = records;
      if (!first) return { kind: "found", value: undefined };
      // A TTL of 0 means the zone's default.
      return {
        kind: "found",
        value: { values: records.map(({ target }) => target), ttl: first.ttl || null, rest: first.id },
      };
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
      if (answer.kind === "absent") return unknownCall(answer, service);
      if (answer.kind !== "ok") return answer;
      const { list } = answer.value;
      if (!Array.isArray(list) || !list.every(isText)) return unexpected("no list of zones", service);
      return { kind: "found", value: list.map((name) => ({ id: name, name })) };
    },
    async records(zone, signal) {
      const found = await recordsIn(zone, "", Number.POSITIVE_INFINITY, signal);
      if (found.kind !== "found") return found;
      const all = found.value.map(({ subDomain, fieldType: type, target, ttl }) => ({
        ...{ name: subDomain || "@", type, value: target },
        ...(ttl ? { ttl } : {}),
      }));
      return { kind: "found", value: all };
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
