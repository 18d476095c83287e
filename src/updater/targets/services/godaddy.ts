import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isNumber, isText, openJsonApi, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import type { ApiDialect } from "../../../providers/answers/service-answer.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import type { SetName } from "../../../providers/provider-calls.ts";
import { createSetTarget, type SetCalls } from "../set-target.ts";
import type { TargetKind } from "../target.ts";
import { type KeyPairTarget, keyPairSettings } from "../token-target.ts";

export const godaddy = {
  ...keyPairSettings(
    "Target: godaddy",
    "GoDaddy's domains API, which GoDaddy offers only to accounts with at least ten domains or a paid plan. The lowest TTL is 600.",
    "https://api.godaddy.com",
    "The API key.",
    "The API secret.",
  ),
  can: { create: true, ttl: true },
  open: async (config: KeyPairTarget, connect) => createSetTarget(godaddyCalls(config, await connect(config))),
} satisfies TargetKind<KeyPairTarget>;

const service = "GoDaddy";
const usualTtl = 600;

const dialect: ApiDialect = {
  service,
  renew: "create a production key at https://developer.godaddy.com/keys, and put it in the files named in the config",
  parse: parseAny,
  errorIn: (status, body) => {
    const { code, message } = body ?? {};
    return {
      status,
      code: "",
      message: status >= 400 && isText(code) ? printable(isText(message) ? message : code) : "",
    };
  },
};

function godaddyCalls(config: KeyPairTarget, client: HttpClient): SetCalls<undefined> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `sso-key ${config.key()}:${config.secret()}` }));
  const zonePath = (zone: string) => `/v1/domains/${encodeURIComponent(zone)}/records`;
  const pathOf = ({ zone, name, type }: SetName) => `${zonePath(zone)}/${type}/${encodeURIComponent(name)}`;
  const recordsAt = async (path: string, zone: string, signal: AbortSignal) =>
    listIn(await api.get(path, signal), { service, key: "list", what: "records", isItem: isRecord, zone });

  return {
    service,
    async read(set, signal) {
      const lookup = await recordsAt(pathOf(set), set.zone, signal);
      return mapFound(lookup, (records) => {
        const own = records.filter(({ name, type }) => name === set.name && type === set.type);
        const [first] = own;
        return first && { values: own.map(({ data }) => data), ttl: first.ttl, raw: undefined };
      });
    },
    async write(set, { value, ttl }, current, signal) {
      const content = [{ data: value, ttl: ttl ?? current?.ttl ?? usualTtl }];
      const written = await api.send("PUT", pathOf(set), content, [200], signal);
      return withoutContent(written);
    },
    async zones(signal) {
      const answer = await api.get("/v1/domains?limit=1000", signal);
      const lookup = listIn(answer, { service, key: "list", what: "domains", isItem: isDomain });
      return mapFound(lookup, (domains) => domains.map(({ domain }) => ({ id: domain, name: domain })));
    },
    async records(zone, signal) {
      const lookup = await recordsAt(zonePath(zone), zone, signal);
      return mapFound(lookup, (all) => all.map(({ name, type, data, ttl }) => ({ name, type, value: data, ttl })));
    },
    close: () => client.close(),
  };
}

const isRecord = withFields({ name: isText, type: isText, data: isText, ttl: isNumber });

const isDomain = withFields({ domain: isText });
