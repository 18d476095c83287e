import { isObject } from "../../../core/is-object.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isNumber, isText, openJsonApi, parseAny } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import type { Body, Dialect } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import type { Held } from "../../../providers/provider-calls.ts";
import type { TargetKind } from "../target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { createZoneTarget, type ZoneCalls } from "../zone-target.ts";

export const desec = {
  ...hostedSettings(
    "Target: desec",
    "deSEC's API. It limits writes to 15 per minute and 300 per day for each zone, and most zones to a TTL of at least 3600.",
    "https://desec.io/api/v1",
    "A token with write permission for the record sets.",
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: TokenTarget, connect) => createZoneTarget(desecCalls(config, await connect(config))),
} satisfies TargetKind<TokenTarget>;

const service = "deSEC";

const dialect: Dialect = {
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

/** The lowest that every zone allows, for a set that is created without `ttl:`. */
const usualTtl = 3600;
/** Without a cursor, a list of more than 500 items is refused. */
const firstPage = "?cursor=";
/** Of one request. */
const mostSets = 500;

function desecCalls(config: TokenTarget, client: HttpClient): ZoneCalls<undefined> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Token ${config.token()}` }));
  const pathOf = (zone: string) => `/domains/${encodeURIComponent(zone)}/rrsets/`;

  const setsIn = async (zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly ReadableSet[]>> => {
    const answer = await api.list(pathOf(zone), firstPage + query, signal);
    return listIn(answer, { service, key: "list", what: "record sets", isItem: isSet, zone });
  };

  const read: ZoneCalls<undefined>["read"] = async ({ zone, name, type }, signal) => {
    const subname = subnameOf(name);
    // Unlike the path of one set, a search tells a missing set from a missing zone.
    const found = await setsIn(zone, `&subname=${encodeURIComponent(subname)}&type=${type}`, signal);
    if (found.kind !== "found") return found;
    const set = found.value.find((each) => each.type === type && each.subname === subname);
    return { kind: "found", value: set && { ...heldIn(set), rest: undefined } };
  };
  const patch = (zone: string, sets: readonly object[], signal: AbortSignal) =>
    api.send("PATCH", pathOf(zone), sets, [200], signal);

  return {
    service,
    read,
    async readAll(sets, signal) {
      const [{ zone, type } = { zone: "", type: "AAAA" }] = sets;
      const all = await setsIn(zone, `&type=${type}`, signal);
      if (all.kind !== "found") return sets.map(() => all);
      const bySubname = new Map(all.value.filter((each) => each.type === type).map((each) => [each.subname, each]));
      return sets.map(({ name }) => {
        const set = bySubname.get(subnameOf(name));
        return { kind: "found", value: set && { ...heldIn(set), rest: undefined } };
      });
    },
    writeAll: (changes, signal) =>
      patch(
        changes[0]?.set.zone ?? "",
        changes.map(({ set, content: { value, ttl }, held }) => ({
          subname: subnameOf(set.name),
          type: set.type,
          records: [value],
          ttl: ttl ?? held?.ttl ?? usualTtl,
        })),
        signal,
      ),
    room: { of: () => 1, most: mostSets },
    remove: ({ zone, name, type }, _, signal) => patch(zone, [{ subname: subnameOf(name), type, records: [] }], signal),
    async write({ zone, name, type }, { value, ttl }, held, signal) {
      const subname = subnameOf(name);
      const content = { records: [value], ...(ttl === undefined ? {} : { ttl }) };
      const written = held
        ? await api.send("PATCH", `${pathOf(zone)}${encodeURIComponent(name)}/${type}/`, content, [200], signal)
        : await api.send("POST", pathOf(zone), { subname, type, ttl: usualTtl, ...content }, [201], signal);
      if (written.kind !== "accepted") return written;
      const isIt = isSet(written.value) && written.value.type === type && written.value.subname === subname;
      return { kind: "accepted", value: isIt ? heldIn(written.value as ReadableSet) : undefined };
    },
    async zones(signal) {
      const answer = await api.list("/domains/", firstPage, signal);
      const found = listIn(answer, { service, key: "list", what: "domains", isItem: isDomain });
      return mapFound(found, (domains) => domains.map(({ name }) => ({ id: name, name })));
    },
    async records(zone, signal) {
      return mapFound(await setsIn(zone, "", signal), (sets) =>
        sets.flatMap(({ subname, type, ttl, records }) => {
          const name = subname === "" ? "@" : subname;
          return records.map((value) => ({ name, type, value, ttl }));
        }),
      );
    },
    close: () => client.close(),
  };
}

type ReadableSet = {
  readonly subname: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly string[];
};

const subnameOf = (name: string) => (name === "@" ? "" : name);

const heldIn = ({ records, ttl }: ReadableSet): Held => ({ values: records, ttl });

const isSet = (value: unknown): value is ReadableSet =>
  isObject(value) &&
  isText(value.subname) &&
  isText(value.type) &&
  isNumber(value.ttl) &&
  Array.isArray(value.records) &&
  value.records.every(isText);

const isDomain = (value: unknown): value is Body & { name: string } => isObject(value) && isText(value.name);
