import { isObject } from "../../../core/is-object.ts";
import { absoluteName } from "../../../core/names/name.ts";
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
import { lookupIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type ApiDialect, readPages } from "../../../providers/answers/service-answer.ts";
import type { CurrentContent } from "../../../providers/provider-calls.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

export const digitalocean = recordsKind(
  hostedSettings(
    "Target: digitalocean",
    "DigitalOcean's domains, API version 2. The lowest TTL is 30.",
    "https://api.digitalocean.com/v2",
    "A token with the scopes domain:read, domain:create and domain:update.",
  ),
  digitaloceanCalls,
);

const service = "DigitalOcean";

const dialect: ApiDialect = {
  service,
  renew:
    "create a token with the scopes domain:read, domain:create and domain:update, and put it in the file named in the config",
  parse: parseAny,
  errorIn: (status, body) => {
    const { id, message } = body ?? {};
    return { status, code: "", message: status >= 400 && isText(id) && isText(message) ? printable(message) : "" };
  },
};

function digitaloceanCalls(config: TokenTarget, client: HttpClient): RecordCalls<number> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${config.token()}` }));
  const pathOf = (zone: string) => `/domains/${encodeURIComponent(zone)}/records`;

  /** A page has a link to the next one. */
  const listed = <T>(
    path: string,
    key: string,
    isItem: (value: unknown) => value is T,
    idIn: (item: T) => unknown,
    signal: AbortSignal,
  ) =>
    readPages(
      (page) => api.get(`${path}${path.includes("?") ? "&" : "?"}page=${page}&per_page=200`, signal),
      key,
      isItem,
      idIn,
      ({ links }) => isObject(links) && isObject(links.pages) && isText(links.pages.next),
    );

  return {
    service,
    async recordsIn(zone, set, signal) {
      const query = set ? `?type=${set.type}&name=${encodeURIComponent(absoluteName(set.name, zone))}` : "";
      const answer = await listed(pathOf(zone) + query, "domain_records", isRecord, ({ id }) => id, signal);
      return mapFound(lookupIn(answer, service, zone), (records) =>
        records.map(({ id, name, type, data, ttl }) => ({ name, type, value: data, ttl, raw: id })),
      );
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const content = { type, data: value, ttl };
      const written = current
        ? await api.send("PATCH", `${pathOf(zone)}/${current.raw}`, content, [200], signal)
        : await api.send("POST", pathOf(zone), { name, ...content }, [201], signal);
      if (written.kind !== "accepted") return written;
      const { domain_record: stored } = written.value;
      const isIt =
        isRecord(stored) && stored.type === type && stored.name === name && (!current || stored.id === current.raw);
      return { kind: "accepted", value: isIt ? currentSetOf(stored) : undefined };
    },
    async zones(signal) {
      const answer = await listed("/domains", "domains", isDomain, ({ name }) => name, signal);
      return mapFound(lookupIn(answer, service), (domains) => domains.map(({ name }) => ({ id: name, name })));
    },
    close: () => client.close(),
  };
}

/** `name` is relative; `@` is the zone itself. */
const isRecord = withFields({ id: isNumber, type: isText, name: isText, data: isText, ttl: isNumber });

const currentSetOf = ({ data, ttl }: ItemOf<typeof isRecord>): CurrentContent => ({ values: [data], ttl });

const isDomain = withFields({ name: isText });
