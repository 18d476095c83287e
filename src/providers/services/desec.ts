import { isObject } from "../../core/is-object.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { type ItemOf, isNumber, isText, listOf, openJsonApi, parseAny, withFields } from "../answers/json-api.ts";
import { listIn, mapFound } from "../answers/list-in.ts";
import type { ApiDialect } from "../answers/service-answer.ts";
import type { Lookup } from "../answers/service-fault.ts";
import { withoutSets } from "../answers/write-answer.ts";
import type { CurrentSet, ProviderAccount, ProviderCalls, ProviderSetChange } from "../provider-calls.ts";

const service = "deSEC";

const dialect: ApiDialect = {
  service,
  renew: "create a token in deSEC's web pages, and put it in the file named in the config",
  parse: parseAny,
  errorIn: (status, body) => ({ status, code: "", message: status < 400 ? "" : printable(textsIn(body).join("; ")) }),
};

/** `{"detail": "text"}`, or the errors of each field: `{"ttl": ["text"]}`; for several sets, a list of these. */
function textsIn(value: unknown, field = ""): readonly string[] {
  if (isText(value)) return [field === "" || field === "detail" ? value : `${field}: ${value}`];
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, field));
  return isObject(value) ? Object.entries(value).flatMap(([key, each]) => textsIn(each, key)) : [];
}

/** The lowest that every zone allows, for a set that is created without a TTL. */
const usualTtl = 3600;
/** Without a cursor, a list of more than 500 items is refused. */
const firstPage = "?cursor=";

/** https://desec.readthedocs.io: "RRset Field Reference", "Bulk Operations" and "Rate Limits". */
const rules: ProviderCalls["rules"] = {
  ttl: { lowest: usualTtl, byZone: true, highest: 604_800, zoneDefault: false },
  mostValues: 4_091,
  mostSets: 500,
  needsBefore: false,
  budget: { requests: 50, seconds: 60 },
  waitsPerZone: true,
};

export function desecCalls(account: ProviderAccount, client: HttpClient): ProviderCalls<undefined> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Token ${account.token()}` }));
  const pathOf = (zone: string) => `/domains/${encodeURIComponent(zone)}/rrsets/`;

  const setsIn = async (
    zone: string,
    query: string,
    signal: AbortSignal,
  ): Promise<Lookup<readonly ItemOf<typeof isSet>[]>> => {
    const answer = await api.list(pathOf(zone), firstPage + query, signal);
    return listIn(answer, { service, key: "list", what: "record sets", isItem: isSet, zone });
  };

  /** One set is created only if it is still missing, and changed only if it still exists. */
  const send = (zone: string, changes: readonly ProviderSetChange<undefined>[], signal: AbortSignal) => {
    const [{ set, content, before } = nothing, ...others] = changes;
    if (others.length > 0 || !content || before === undefined)
      return api.send("PATCH", pathOf(zone), changes.map(wanted), [200], signal);
    const { values: records, ttl } = content;
    if (before === "missing") return api.send("POST", pathOf(zone), wanted({ set, content }), [201], signal);
    const path = `${pathOf(zone)}${encodeURIComponent(set.name)}/${set.type}/`;
    return api.send("PATCH", path, { records, ...(ttl !== undefined && { ttl: ttl ?? usualTtl }) }, [200], signal);
  };

  return {
    service,
    rules,
    async zones(signal) {
      const answer = await api.list("/domains/", firstPage, signal);
      const lookup = listIn(answer, { service, key: "list", what: "domains", isItem: isDomain });
      return mapFound(lookup, (domains) =>
        domains.map(({ name, minimum_ttl: lowestTtl }) => ({
          id: name,
          name,
          ...(isNumber(lowestTtl) && { lowestTtl }),
        })),
      );
    },
    async sets(zone, signal) {
      return mapFound(await setsIn(zone, "", signal), (sets) =>
        sets.map((set) => ({ name: set.subname === "" ? "@" : set.subname, type: set.type, ...currentSetOf(set) })),
      );
    },
    async read({ zone, name, type }, signal) {
      const subname = subnameOf(name);
      // Unlike the path of one set, a search tells a missing set from a missing zone.
      const lookup = await setsIn(zone, `&subname=${encodeURIComponent(subname)}&type=${type}`, signal);
      return mapFound(lookup, (sets) => {
        const set = sets.find((each) => each.type === type && each.subname === subname);
        return set && currentSetOf(set);
      });
    },
    write: async (zone, changes, signal) => withoutSets(await send(zone, changes, signal)),
    close: () => client.close(),
  };
}

const nothing: ProviderSetChange<undefined> = { set: { zone: "", name: "", type: "" }, content: undefined };

/** A set without records is deleted. */
const wanted = ({ set, content, before }: ProviderSetChange<undefined>) => ({
  subname: subnameOf(set.name),
  type: set.type,
  records: content?.values ?? [],
  ...(content && { ttl: content.ttl ?? (before === "missing" ? undefined : before?.ttl) ?? usualTtl }),
});

const isSet = withFields({ subname: isText, type: isText, ttl: isNumber, records: listOf(isText) });

const subnameOf = (name: string) => (name === "@" ? "" : name);

const currentSetOf = ({ records, ttl }: ItemOf<typeof isSet>): CurrentSet<undefined> => ({
  values: records,
  ttl,
  raw: undefined,
});

const isDomain = withFields({ name: isText });
