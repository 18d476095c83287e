import { createHash } from "node:crypto";
import type { HttpClient, HttpRequest } from "../../../lib/http-client/client.ts";
import { needed } from "../../../lib/settings/mapping.ts";
import type { SettingType } from "../../../lib/settings/setting.ts";
import { isNumber, isText, type JsonApi, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import {
  type ApiDialect,
  errorIn,
  later,
  readAnswer,
  unexpected,
  unknownCall,
} from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import { LastStep } from "../../../providers/last-step.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { headerSecret, secret } from "../../config/secret.ts";
import { hosted } from "../token-target.ts";
import { type OneRecord, type RecordCalls, recordsKind } from "./listed-records.ts";
import { keepSession } from "./session.ts";

const settings = hosted("Target: ovh", "OVHcloud's API. For DynHost, use `dyndns2`.", "https://eu.api.ovh.com/1.0", {
  applicationKey: needed(headerSecret("The application key.")),
  applicationSecret: needed(secret("The application secret.")),
  consumerKey: needed(headerSecret("A consumer key with GET, PUT and POST on /domain/zone/*.")),
});

type OvhTarget = TargetConfig & SettingType<typeof settings>;

export const ovh = recordsKind(settings, ovhCalls);

const service = "OVHcloud";
/** More records of one name and type than this are not read: moor leaves such a set alone anyway. */
const enough = 4;

const dialect: ApiDialect = {
  service,
  renew: "create the three keys at https://eu.api.ovh.com/createToken/ with GET, PUT and POST on /domain/zone/*",
  parse: parseAny,
  errorIn(status, body) {
    const error = errorIn(status, body);
    // A wrong signature, or one that is too old, is a 400.
    const isSignature = body?.errorCode === "INVALID_SIGNATURE" || /signature|out of time/i.test(error.message);
    return { ...error, status: status === 400 && isSignature ? 401 : error.status };
  },
};

/** Calls without a result answered 200 with `null` until October 2023, and 204 since then. */
const success = [200, 201, 204];

const timeDialect: ApiDialect = {
  ...dialect,
  parse: (text) => (/^\s*\d{9,11}\s*$/.test(text) ? { time: Number(text) } : parseAny(text)),
};

/** Signs with the service's time: this machine's clock may be wrong. */
function signedApi(config: OvhTarget, client: HttpClient): Pick<JsonApi, "get" | "send"> {
  const secrets = () => [config.applicationKey(), config.applicationSecret(), config.consumerKey()] as const;
  const clock = () => Math.floor(Date.now() / 1000);
  /** How many seconds the service's clock is ahead of ours. */
  const measure = async (signal: AbortSignal): Promise<Lookup<number>> => {
    const outcome = await client.send({ method: "GET", path: "/auth/time", headers: {}, secrets: secrets() }, signal);
    const answer = readAnswer(outcome, [200], Date.now(), timeDialect);
    if (answer.kind === "absent") return unknownCall(answer, service);
    if (answer.kind !== "ok") return answer;
    const { time } = answer.value;
    return isNumber(time) ? { kind: "found", value: time - clock() } : unexpected("no time", service);
  };
  const session = keepSession(dialect, measure);
  const request =
    (method: HttpRequest["method"], path: string, body: string, signal: AbortSignal) => (ahead: number) => {
      const [application, secret, consumer] = secrets();
      const time = String(clock() + ahead);
      const url = `${config.url.origin}${config.url.pathname.replace(/\/+$/, "")}${path}`;
      const text = [secret, consumer, method, url, body, time].join("+");
      const headers = {
        "x-ovh-application": application,
        "x-ovh-consumer": consumer,
        "x-ovh-timestamp": time,
        "x-ovh-signature": `$1$${createHash("sha1").update(text).digest("hex")}`,
        ...(body && { "content-type": "application/json" }),
      };
      return client.send({ method, path, headers, secrets: secrets(), body }, signal);
    };
  return {
    get: (path, signal) => session.ask(request("GET", path, "", signal), signal),
    send: (method, path, content, statuses, signal) =>
      session.write(request(method, path, JSON.stringify(content), signal), statuses, signal),
  };
}

function ovhCalls(config: OvhTarget, client: HttpClient): RecordCalls<number> {
  const api = signedApi(config, client);
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
        records.push({ name: name || "@", type, value, ttl: ttl || null, raw: one.value.id });
      }
      return { kind: "found", value: records };
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const content = { target: value, ttl };
      const created = { fieldType: type, subDomain: name === "@" ? "" : name, ...content };
      const written = current
        ? await api.send("PUT", `${pathOf(zone)}/record/${current.raw}`, content, success, signal)
        : await api.send("POST", `${pathOf(zone)}/record`, created, success, signal);
      return withoutContent(written);
    },
    lastStep: new LastStep(service, (zone, signal) => api.send("POST", `${pathOf(zone)}/refresh`, {}, success, signal)),
    async zones(signal) {
      const answer = await api.get("/domain/zone", signal);
      const lookup = listIn(answer, { service, key: "list", what: "zones", isItem: isText });
      return mapFound(lookup, (names) => names.map((name) => ({ id: name, name })));
    },
    close: () => client.close(),
  };
}

/** Empty or missing for the zone itself. */
const isName = (value: unknown): value is string | null | undefined => isText(value ?? "");

const isRecord = withFields({ id: isNumber, fieldType: isText, subDomain: isName, target: isText, ttl: isNumber });
