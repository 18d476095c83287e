import { isObject } from "../../../core/is-object.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../../lib/http-client/client.ts";
import { needed } from "../../../lib/settings/mapping.ts";
import { type SettingType, text } from "../../../lib/settings/setting.ts";
import { isNumber, isText, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import {
  type ApiDialect,
  cannotList,
  type JsonBody,
  readAnswer,
  type ServiceAnswer,
  unexpected,
  unknownCall,
} from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { secret } from "../../config/secret.ts";
import { hosted } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";
import { keepSession } from "./session.ts";

const settings = hosted(
  "Target: netcup",
  "The CCP API of netcup, which does not see zones that have moved to CloudDNS: they need `api: netcup-cloud`. The TTL belongs to the whole zone, so `ttl:` is not allowed.",
  "https://ccp.netcup.net/run/webservice/servers/endpoint.php",
  {
    customer: needed(text("The customer number.", "123456")),
    key: needed(secret("The API key.")),
    password: needed(secret("The API password.")),
  },
);

type NetcupTarget = TargetConfig & SettingType<typeof settings>;

export const netcup = recordsKind(settings, netcupCalls, { create: true, ttl: false });

const service = "netcup";
const moved =
  "if the zone has moved to CloudDNS, as the control panel says, use `api: netcup-cloud`; otherwise correct `zone:`";

/** Every answer has the status 200; `status` and the texts in the body are the real result. */
const dialect: ApiDialect = {
  service,
  renew: "create an API key and an API password in the CCP under Stammdaten, API, and check `customer:`",
  parse: parseAny,
  errorIn(status, body) {
    const { status: word, statuscode, shortmessage, longmessage } = body ?? {};
    if (word !== "error") return { status, code: "", message: "" };
    const errorText = printable(
      [isNumber(statuscode) ? String(statuscode) : "", shortmessage, longmessage].filter(isText).join(" ").trim(),
    );
    return { status: status === 200 ? statusOf(errorText, body?.action) : status, code: "", message: errorText };
  },
};

/** The codes are too coarse: 4013 stands for any value that is not accepted. */
function statusOf(errorText: string, action: unknown): number {
  if (/requests per minute|too many/i.test(errorText)) return 429;
  if (/\bnot found|can not get dns/i.test(errorText)) return 404;
  return action === "login" || /session|api ?key|password/i.test(errorText) ? 401 : 422;
}

function netcupCalls(config: NetcupTarget, client: HttpClient): RecordCalls<string> {
  const post =
    (action: string, param: object, signal: AbortSignal) =>
    (session?: string): Promise<HttpOutcome> => {
      const credentials = {
        customernumber: config.customer,
        apikey: config.key(),
        ...(session && { apisessionid: session }),
      };
      const body = JSON.stringify({ action, param: { ...credentials, ...param } });
      const secrets = [config.key(), config.password(), ...(session === undefined ? [] : [session])];
      const headers = { "content-type": "application/json" };
      return client.send({ method: "POST", path: "?JSON", headers, body, secrets }, signal);
    };
  const signIn = async (signal: AbortSignal): Promise<Lookup<string>> => {
    const outcome = await post("login", { apipassword: config.password() }, signal)();
    const answer = readAnswer(outcome, [200], Date.now(), dialect);
    if (answer.kind === "absent") return unknownCall(answer, service);
    if (answer.kind !== "ok") return answer;
    const { responsedata } = answer.value;
    const id = isObject(responsedata) ? responsedata.apisessionid : undefined;
    return isText(id) ? { kind: "found", value: id } : unexpected("no session", service);
  };
  const session = keepSession(dialect, signIn);
  const ask = async (action: string, param: object, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> => {
    const answer = await session.ask(post(action, param, signal), signal);
    if (answer.kind !== "ok") return answer;
    const { responsedata } = answer.value;
    return isObject(responsedata) ? { kind: "ok", value: responsedata } : unexpected("no data", service);
  };

  return {
    service,
    async recordsIn(zone, _set, signal) {
      const answer = await ask("infoDnsRecords", { domainname: zone }, signal);
      const lookup = listIn(answer, { service, key: "dnsrecords", what: "records", isItem: isRecord, zone });
      if (lookup.kind === "missing") return { ...lookup, todo: moved };
      return mapFound(lookup, (records) =>
        records.map(({ id, hostname: name, type, destination: value }) => ({ name, type, value, ttl: null, raw: id })),
      );
    },
    async write({ zone, name, type }, { value }, current, signal) {
      const record = { ...(current && { id: current.raw }), hostname: name, type, destination: value };
      // Only the records in the request are changed.
      const param = { domainname: zone, dnsrecordset: { dnsrecords: [record] } };
      const written = await session.write(post("updateDnsRecords", param, signal), [200], signal);
      return withoutContent(written);
    },
    zones: async () =>
      cannotList(
        service,
        "see the list of domains in the CCP; `moor record list ZONE` lists the records of one",
        "zones",
      ),
    close: () => client.close(),
  };
}

const isRecord = withFields({ id: isText, hostname: isText, type: isText, destination: isText });
