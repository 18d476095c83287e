import { isObject } from "../../../core/is-object.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isNumber, isText, listOf, openJsonApi, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type ApiDialect, noZone, unexpected } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { withoutContent } from "../../../providers/answers/write-answer.ts";
import type { SetName } from "../../../providers/provider-calls.ts";
import { createSetTarget, type SetCalls } from "../set-target.ts";
import type { TargetKind } from "../target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";

export const gandi = {
  ...hostedSettings(
    "Target: gandi",
    "Gandi's LiveDNS, version 5. The lowest TTL is 300.",
    "https://api.gandi.net/v5/livedns",
    "A personal access token with the permission to manage the domain's technical configuration.",
  ),
  can: { create: true, ttl: true },
  open: async (config: TokenTarget, connect) => createSetTarget(gandiCalls(config, await connect(config))),
} satisfies TargetKind<TokenTarget>;

const service = "Gandi";
/** For a set that is created without `ttl:`; Gandi's own default is three hours. */
const usualTtl = 300;

const dialect: ApiDialect = {
  service,
  renew: "create a personal access token in Gandi's web pages, and put it in the file named in the config",
  parse: parseAny,
  errorIn(status, body) {
    const { message, cause, errors } = body ?? {};
    const details = Array.isArray(errors) ? errors.flatMap((each) => (isObject(each) ? [each.description] : [])) : [];
    const texts = [message, ...details, cause].filter(isText);
    return { status, code: "", message: status < 400 ? "" : printable(texts.slice(0, 2).join("; ")) };
  },
};

function gandiCalls(config: TokenTarget, client: HttpClient): SetCalls<undefined> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${config.token()}` }));
  const zonePath = (zone: string) => `/domains/${encodeURIComponent(zone)}`;
  const pathOf = ({ zone, name, type }: SetName) => `${zonePath(zone)}/records/${encodeURIComponent(name)}/${type}`;

  /** The answers for a missing set and a missing zone are the same. */
  const absentIn = async (zone: string, signal: AbortSignal): Promise<Lookup<undefined>> => {
    const answer = await api.get(zonePath(zone), signal);
    if (answer.kind === "absent") return noZone(zone, service);
    return answer.kind === "ok" ? { kind: "found", value: undefined } : answer;
  };

  return {
    service,
    async read(set, signal) {
      const answer = await api.get(pathOf(set), signal);
      if (answer.kind === "absent") return absentIn(set.zone, signal);
      if (answer.kind !== "ok") return answer;
      if (!isSet(answer.value) || answer.value.rrset_name !== set.name || answer.value.rrset_type !== set.type) {
        return unexpected("no record set", service);
      }
      const { rrset_values: values, rrset_ttl: ttl } = answer.value;
      return { kind: "found", value: { values, ttl, raw: undefined } };
    },
    async write(set, { value, ttl }, current, signal) {
      const content = { rrset_values: [value], rrset_ttl: ttl ?? current?.ttl ?? usualTtl };
      const written = await api.send("PUT", pathOf(set), content, [200, 201], signal);
      return withoutContent(written);
    },
    async zones(signal) {
      const answer = await api.list("/domains", "?per_page=1000", signal);
      const lookup = listIn(answer, { service, key: "list", what: "domains", isItem: isDomain });
      return mapFound(lookup, (domains) => domains.map(({ fqdn }) => ({ id: fqdn, name: fqdn })));
    },
    async records(zone, signal) {
      const answer = await api.list(`${zonePath(zone)}/records`, "?per_page=1000", signal);
      const lookup = listIn(answer, { service, key: "list", what: "record sets", isItem: isSet, zone });
      return mapFound(lookup, (sets) =>
        sets.flatMap(({ rrset_name: name, rrset_type: type, rrset_ttl: ttl, rrset_values: values }) =>
          values.map((value) => ({ name, type, value, ttl })),
        ),
      );
    },
    close: () => client.close(),
  };
}

const isSet = withFields({
  rrset_name: isText,
  rrset_type: isText,
  rrset_ttl: isNumber,
  rrset_values: listOf(isText),
});

const isDomain = withFields({ fqdn: isText });
