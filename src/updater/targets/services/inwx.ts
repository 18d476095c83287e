import { isObject } from "../../../core/is-object.ts";
import { absoluteName } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../../lib/http-client/client.ts";
import { needed } from "../../../lib/settings/mapping.ts";
import { type SettingType, text } from "../../../lib/settings/setting.ts";
import { type ItemOf, isNumber, isText, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import {
  type ApiDialect,
  followPages,
  type JsonBody,
  type ListedPage,
  readAnswer,
  type ServiceAnswer,
  unexpected,
  unknownCall,
} from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { secret } from "../../config/secret.ts";
import { listedName } from "../set-target.ts";
import type { TargetFault } from "../target.ts";
import { hosted } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";
import { keepSession } from "./session.ts";

const settings = hosted(
  "Target: inwx",
  "INWX's DomRobot API, for accounts without two-factor authentication. For its DynDNS accounts, use `dyndns2`. The lowest TTL is 300.",
  "https://api.domrobot.com/jsonrpc/",
  {
    user: needed(text("The user name.", "me")),
    password: needed(secret("The password.")),
  },
);

type InwxTarget = TargetConfig & SettingType<typeof settings>;

export const inwx = recordsKind(settings, inwxCalls);

const service = "INWX";
const usualTtl = 300;
/** Domains per page. */
const pagelimit = 1000;

/** Every answer has the status 200; the code in the body is the real result. */
const dialect: ApiDialect = {
  service,
  renew: "correct `user:` and `password:`; two-factor authentication must be off for this account",
  parse: parseAny,
  errorIn(status, body) {
    const { code, msg, reason } = body ?? {};
    if (!isNumber(code) || code < 2000) return { status, code: "", message: "" };
    const errorText = printable([String(code), msg, reason].filter(isText).join(" "));
    return { status: status === 200 ? statusOf(code) : status, code: "", message: errorText };
  },
};

/**
 * The codes are those of EPP (RFC 5730, section 3), except that 2002 is also sent to a client that is not signed in.
 */
function statusOf(code: number): number {
  if ([2002, 2200, 2201, 2202, 2501].includes(code)) return 401;
  if (code === 2303) return 404;
  if (code === 2502) return 429;
  return code === 2400 || code === 2500 ? 500 : 422;
}

function inwxCalls(config: InwxTarget, client: HttpClient): RecordCalls<RecordId> {
  const { post, ask, session } = inwxSession(config, client);

  return {
    service,
    async recordsIn(zone, set, signal) {
      const filter = set && { name: absoluteName(set.name, zone), type: set.type };
      const answer = await ask("nameserver.info", { domain: zone, ...filter }, signal);
      // Without such records, there is no list.
      const listed = answer.kind === "ok" ? { ...answer, value: { record: [], ...answer.value } } : answer;
      const lookup = listIn(listed, { service, key: "record", what: "records", isItem: isRecord, zone });
      return mapFound(lookup, (records) =>
        records.map(({ id, name, type, content, ttl }) => ({
          name: listedName(name, zone),
          type,
          value: content,
          ttl,
          raw: id,
        })),
      );
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const content = { content: value, ttl: ttl ?? current?.ttl ?? usualTtl };
      const created = { domain: zone, name: absoluteName(name, zone), type, ...content };
      const request = current
        ? post("nameserver.updateRecord", { id: current.raw, ...content }, signal)
        : post("nameserver.createRecord", created, signal);
      const written = await session.write(request, [200], signal);
      return withoutContent(written);
    },
    async zones(signal) {
      const lookup = await followPages(
        service,
        "1",
        async (page): Promise<ListedPage<ItemOf<typeof isDomain>> | TargetFault> => {
          const answer = await ask("nameserver.list", { page: Number(page), pagelimit }, signal);
          const listed = listIn(answer, { service, key: "domains", what: "domains", isItem: isDomain });
          if (listed.kind !== "found") return listed;
          return {
            kind: "page",
            items: listed.value,
            next: listed.value.length < pagelimit ? "" : `${Number(page) + 1}`,
          };
        },
      );
      return mapFound(lookup, (domains) => domains.map(({ domain }) => ({ id: domain, name: domain })));
    },
    close: () => client.close(),
  };
}

function inwxSession(config: InwxTarget, client: HttpClient) {
  const post =
    (method: string, params: object, signal: AbortSignal) =>
    (cookie?: string): Promise<HttpOutcome> => {
      const headers = { "content-type": "application/json", ...(cookie && { cookie }) };
      const body = JSON.stringify({ method, params });
      const secrets = [config.password(), ...(cookie === undefined ? [] : [cookie])];
      // The slash is part of the documented address.
      return client.send({ method: "POST", path: "/", headers, body, secrets }, signal);
    };
  const signIn = async (signal: AbortSignal): Promise<Lookup<string>> => {
    const outcome = await post("account.login", { user: config.user, pass: config.password() }, signal)();
    const answer = readAnswer(outcome, [200], Date.now(), dialect);
    if (answer.kind === "absent") return unknownCall(answer, service);
    if (answer.kind !== "ok") return answer;
    const { resData } = answer.value;
    if (isObject(resData) && isText(resData.tfa) && resData.tfa !== "0") return twoFactors;
    const cookies = outcome.kind === "answer" ? (outcome.headers["set-cookie"] ?? []) : [];
    const cookie = cookies.map((each) => each.split(";")[0]).join("; ");
    return cookie === "" ? unexpected("no session", service) : { kind: "found", value: cookie };
  };
  const session = keepSession(dialect, signIn);
  const ask = async (method: string, params: object, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>> => {
    const answer = await session.ask(post(method, params, signal), signal);
    if (answer.kind !== "ok") return answer;
    return isObject(answer.value.resData)
      ? { kind: "ok", value: answer.value.resData }
      : unexpected("no data", service);
  };
  return { post, ask, session };
}

const twoFactors: TargetFault = {
  kind: "unauthorised",
  because: "INWX requires two-factor authentication for this account",
  todo: "create a sub-account without two-factor authentication, or use `api: dyndns2` with one of its DynDNS accounts",
};

/** A string since November 2025, because it no longer fits into 32 bits. */
type RecordId = number | string;

const isId = (value: unknown): value is RecordId => isNumber(value) || (isText(value) && /^\d+$/.test(value));

const isRecord = withFields({ id: isId, name: isText, type: isText, content: isText, ttl: isNumber });

const isDomain = withFields({ domain: isText });
