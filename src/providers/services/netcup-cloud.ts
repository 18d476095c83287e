import { isObject } from "../../core/is-object.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { type ItemOf, isNumber, isText, type JsonApi, openJsonApi, parseAny, withFields } from "../answers/json-api.ts";
import { lookupIn, mapFound } from "../answers/list-in.ts";
import { type ApiDialect, type JsonBody, noZone, unexpected } from "../answers/service-answer.ts";
import type { Lookup, ServiceFault } from "../answers/service-fault.ts";
import type { CurrentSet, ListedSet, ProviderAccount, ProviderCalls, ProviderSetChange } from "../provider-calls.ts";

const service = "netcup CloudDNS";

/** The statuses are too coarse: a wrong key is 400. What was changed meanwhile is a conflict. */
const statuses: Readonly<Record<string, number>> = {
  authenticationError: 401,
  resourceDoesNotExist: 404,
  recordDoesNotExist: 409,
  recordAlreadyExists: 409,
};

/** Every answer is `{success, errors, meta, result}`. */
const dialect: ApiDialect = {
  service,
  renew: "create an API key in the customer control panel (Master data, API, API keys; not a legacy key)",
  parse: parseAny,
  errorIn(status, body) {
    const errors = Array.isArray(body?.errors) ? body.errors.filter(isObject) : [];
    if (body?.success !== false) return { status, code: "", message: "" };
    const code = errors.map((error) => error.code).find(isText) ?? "";
    const texts = errors.map((error) => error.message).filter(isText);
    const inside = statuses[code] ?? (status < 400 ? 422 : status);
    const message = printable([code, ...texts].filter((text) => text !== "").join(": ")) || "without an explanation";
    return { status: inside, code, message, ...(inside !== status && { outside: status }) };
  },
};

/** For a set that is created without a TTL. */
const usualTtl = 300;

/** https://api.netcup.com/v1/openapi.json. Limits of TTL and size are not documented. */
const rules: ProviderCalls["rules"] = {
  ttl: { lowest: 1, highest: 2_147_483_647, zoneDefault: false },
  mostValues: 1_000,
  mostSets: 100,
  needsBefore: true,
  readsWholeZone: true,
};

type RecordInput = { readonly name: string; readonly type: string; readonly rdata: string; readonly ttl: number };
type Raw = readonly RecordInput[];

export function netcupCloudCalls(account: ProviderAccount, client: HttpClient): ProviderCalls<Raw> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${account.token()}` }));
  return {
    service,
    rules,
    async zones(signal) {
      const domains = lookupIn(
        await api.pages("/domain?perPage=100", { isItem: isDomain, idOf: ({ id }) => id, hasNext }, signal),
        service,
      );
      return mapFound(domains, (all) =>
        all.filter(({ isDnsManaged }) => isDnsManaged).map(({ id, fqdn }) => ({ id: String(id), name: fqdn })),
      );
    },
    sets: async (zone, signal) => mapFound(await recordsIn(api, zone, signal), setsOf),
    read: async ({ zone, name, type }, signal) =>
      mapFound(await recordsIn(api, zone, signal), (records) =>
        setsOf(records).find((set) => set.name === name && set.type === type),
      ),
    async write(zone, changes, signal) {
      const domain = await domainOf(api, zone, signal);
      if (domain.kind !== "found") return { kind: "refused", because: domain };
      const differences = changes.map(differenceOf);
      const gone = differences.flatMap((each) => each.gone);
      const create = differences.flatMap((each) => each.create);
      const stored = { kind: "accepted", value: changes.map(() => undefined) } as const;
      if (gone.length + create.length === 0) return stored;
      // Strict: a record that somebody else has changed is a conflict, and nothing is stored.
      const content = { create, delete: gone, autoCommit: true, strict: true };
      const written = await api.send("POST", `/domain/${domain.value}/changeset`, content, [200, 201], signal);
      return written.kind === "accepted" ? stored : written;
    },
    close: () => client.close(),
  };
}

async function domainOf(api: JsonApi, zone: string, signal: AbortSignal): Promise<Lookup<number>> {
  const answer = await api.get(`/domain?fqdn=${encodeURIComponent(zone)}`, signal);
  if (answer.kind === "absent") return elsewhere(zone);
  if (answer.kind !== "ok") return answer;
  const domains = answer.value.result;
  if (!Array.isArray(domains) || !domains.every(isDomain)) return unexpected("no list of domains", service);
  const domain = domains.find(({ fqdn }) => fqdn === zone);
  return domain?.isDnsManaged ? { kind: "found", value: domain.id } : elsewhere(zone);
}

/**
 * There is no list of a zone's records: each change makes a revision, and the served one has the highest serial. A
 * draft, which somebody edits in the control panel, has none.
 */
async function recordsIn(api: JsonApi, zone: string, signal: AbortSignal): Promise<Lookup<readonly RecordInput[]>> {
  const domain = await domainOf(api, zone, signal);
  if (domain.kind !== "found") return domain;
  const path = `/domain/${domain.value}/dns/revision`;
  const revisions = lookupIn(
    await api.pages(
      `${path}?perPage=100`,
      { isItem: isRevision, idOf: ({ identifier }) => identifier, hasNext },
      signal,
    ),
    service,
    zone,
  );
  if (revisions.kind !== "found") return revisions;
  const served = servedOf(revisions.value);
  if (!served) return unexpected("no revision of the zone that is served", service);
  const records = `${path}/${encodeURIComponent(served.identifier)}/record`;
  return lookupIn(
    await api.pages(
      `${records}?perPage=100`,
      { isItem: isRecord, idOf: ({ identifier }) => identifier, hasNext },
      signal,
    ),
    service,
    zone,
  );
}

/** Zones move to CloudDNS one by one, and each of the two APIs sees only its own. */
const elsewhere = (zone: string): ServiceFault => ({
  ...noZone(zone, service),
  todo: "if the zone is not at CloudDNS yet, use `api: netcup`; `moor zone list` lists the zones that moor can see",
});

const differenceOf = ({ set: { name, type }, content, before }: ProviderSetChange<Raw>) => {
  const held = before === undefined || before === "missing" ? [] : before.raw;
  const ttl = content?.ttl ?? held[0]?.ttl ?? usualTtl;
  const wanted = (content?.values ?? []).map((rdata): RecordInput => ({ name, type, rdata, ttl }));
  const lacks = (list: Raw, { rdata, ttl }: RecordInput) =>
    !list.some((each) => each.rdata === rdata && each.ttl === ttl);
  return {
    gone: held.filter((record) => lacks(wanted, record)),
    create: wanted.filter((record) => lacks(held, record)),
  };
};

function setsOf(records: readonly RecordInput[]): readonly ListedSet<Raw>[] {
  return [...Map.groupBy(records, ({ name, type }) => `${name} ${type}`).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const set: CurrentSet<Raw> = {
      values: group.map(({ rdata }) => rdata),
      ttl: first.ttl,
      hasMixedTtl: group.some(({ ttl }) => ttl !== first.ttl),
      // Only what a deletion has to name.
      raw: group.map(({ name, type, rdata, ttl }) => ({ name, type, rdata, ttl })),
    };
    return [{ name: first.name, type: first.type, ...set }];
  });
}

const isSerial = (value: unknown): value is number | null => value === null || isNumber(value);

const isRevision = withFields({ identifier: isText, serial: isSerial });

type Revision = ItemOf<typeof isRevision>;

const servedOf = (revisions: readonly Revision[]): Revision | undefined =>
  revisions.filter(({ serial }) => serial !== null).toSorted((a, b) => (b.serial ?? 0) - (a.serial ?? 0))[0];

function hasNext({ meta }: JsonBody, page: number): boolean {
  const pagination = isObject(meta) && isObject(meta.pagination) ? meta.pagination : {};
  return isNumber(pagination.lastPage) && page < pagination.lastPage;
}

const isFlag = (value: unknown): value is boolean => typeof value === "boolean";

const isDomain = withFields({ id: isNumber, fqdn: isText, isDnsManaged: isFlag });

const isRecord = withFields({ identifier: isText, name: isText, type: isText, rdata: isText, ttl: isNumber });
