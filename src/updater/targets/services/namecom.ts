import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { needed } from "../../../lib/settings/mapping.ts";
import { type SettingType, text } from "../../../lib/settings/setting.ts";
import {
  isNumber,
  isText,
  type JsonApi,
  openJsonApi,
  optional,
  parseAny,
  withFields,
} from "../../../providers/answers/json-api.ts";
import { lookupIn, mapFound } from "../../../providers/answers/list-in.ts";
import {
  type ApiDialect,
  type JsonBody,
  readPages,
  type ServiceAnswer,
} from "../../../providers/answers/service-answer.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { secret } from "../../config/secret.ts";
import { hosted } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

const settings = hosted(
  "Target: namecom",
  "name.com's API, version 4. The lowest TTL is 300.",
  "https://api.name.com",
  {
    user: needed(text("The user name.", "me")),
    token: needed(secret("The API token.")),
  },
);

type NamecomTarget = TargetConfig & SettingType<typeof settings>;

export const namecom = recordsKind(settings, namecomCalls);

const service = "name.com";
const usualTtl = 300;

const dialect: ApiDialect = {
  service,
  renew: "create an API token in name.com's account settings, and put it in the file named in the config",
  parse: parseAny,
  errorIn: (status, body) => {
    const texts = [body?.message, body?.details].filter((each) => isText(each) && each !== "");
    return { status, code: "", message: status >= 400 ? printable(texts.join("; ")) : "" };
  },
};

function namecomCalls(config: NamecomTarget, client: HttpClient): RecordCalls<number> {
  const api = openJsonApi(client, dialect, () => ({
    authorization: `Basic ${Buffer.from(`${config.user}:${config.token()}`).toString("base64")}`,
  }));
  const pathOf = (zone: string) => `/v4/domains/${encodeURIComponent(zone)}/records`;
  const listed = lists(api);

  return {
    service,
    async recordsIn(zone, _, signal) {
      const answer = await listed(pathOf(zone), "records", isRecord, ({ id }) => id, signal);
      return mapFound(lookupIn(answer, service, zone), (records) =>
        records.map(({ id, host, type, answer: value, ttl }) => ({ name: host || "@", type, value, ttl, raw: id })),
      );
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const host = name === "@" ? {} : { host: name };
      const content = { ...host, type, answer: value, ttl: ttl ?? current?.ttl ?? usualTtl };
      const written = current
        ? await api.send("PUT", `${pathOf(zone)}/${current.raw}`, content, [200, 201], signal)
        : await api.send("POST", pathOf(zone), content, [200, 201], signal);
      if (written.kind !== "accepted") return written;
      const stored = written.value;
      const isIt = isRecord(stored) && stored.type === type && (stored.host || "@") === name;
      return { kind: "accepted", value: isIt ? { values: [stored.answer], ttl: stored.ttl } : undefined };
    },
    async zones(signal) {
      const answer = await listed("/v4/domains", "domains", isDomain, ({ domainName }) => domainName, signal);
      return mapFound(lookupIn(answer, service), (domains) =>
        domains.map(({ domainName: name }) => ({ id: name, name })),
      );
    },
    close: () => client.close(),
  };
}

const lists =
  (api: JsonApi) =>
  <T>(
    path: string,
    key: string,
    isItem: (value: unknown) => value is T,
    idIn: (item: T) => unknown,
    signal: AbortSignal,
  ) =>
    readPages(
      async (page): Promise<ServiceAnswer<JsonBody>> => {
        const answer = await api.get(`${path}?page=${page}&perPage=1000`, signal);
        if (answer.kind !== "ok") return answer;
        const list = answer.value[key] ?? (Object.keys(answer.value).length === 0 ? undefined : []);
        return { kind: "ok", value: { ...answer.value, [key]: list } };
      },
      key,
      isItem,
      idIn,
      ({ nextPage }, page) => isNumber(nextPage) && page < nextPage,
    );

/** `host` is relative, and missing for the zone itself. */
const isRecord = withFields({ id: isNumber, host: optional(isText), type: isText, answer: isText, ttl: isNumber });

const isDomain = withFields({ domainName: isText });
