import { isObject } from "../../../core/is-object.ts";
import { absoluteName, ownerOf, zoneNameOf } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import {
  type ItemOf,
  isNumber,
  isText,
  type JsonApi,
  openJsonApi,
  parseAny,
  withFields,
} from "../../answers/json-api.ts";
import { listIn, mapFound } from "../../answers/list-in.ts";
import { type ApiDialect, type JsonBody, noZone, unknownCall } from "../../answers/service-answer.ts";
import type { Lookup, ServiceFault } from "../../answers/service-fault.ts";
import { type WriteAnswer, withoutSets } from "../../answers/write-answer.ts";
import type {
  CurrentContent,
  CurrentSet,
  ProviderAccount,
  ProviderCalls,
  ProviderSetChange,
  SetName,
} from "../../provider-calls.ts";
import { type CloudflareContent, contentTypes, valueIn } from "./record-content.ts";
import {
  automatic,
  isTtlIgnored,
  type Operations,
  operationsFor,
  type RecordRef,
  servedAutomatically,
  sizeOf,
} from "./record-operations.ts";

const service = "Cloudflare";

/** Sent with 400, though they are about the token. */
const tokenCodes = [6003, 6111, 9106, 9109, 10_000, 10_001];

const dialect: ApiDialect = {
  service,
  renew:
    "create an API token with the permission Zone / DNS / Edit for the zone, and put it in the file named in the config",
  parse: parseAny,
  errorIn(status, body) {
    const [first] = Array.isArray(body?.errors) ? body.errors : [];
    const { code, message } = isObject(first) ? first : {};
    const inside = status === 400 && isNumber(code) && tokenCodes.includes(code) ? 401 : status;
    const failed = body?.success === false && isText(message);
    const errorText = failed ? [...(isNumber(code) ? [code] : []), message].join(" ") : "";
    return { status: inside, code: "", message: printable(errorText) };
  },
};

/**
 * Of one batch, in the Free plan: https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes
 */
const mostRecords = 200;

const rules: ProviderCalls["rules"] = {
  // "ttl" in https://developers.cloudflare.com/api/resources/dns/subresources/records
  ttl: { lowest: 60, highest: 86_400, zoneDefault: true, automatic: servedAutomatically },
  types: contentTypes,
  mostValues: mostRecords,
  mostSets: mostRecords,
  needsBefore: true,
  // https://developers.cloudflare.com/fundamentals/api/reference/limits
  budget: { requests: 1_200, seconds: 300 },
};

/** `account`: the id of the account that has the zones, for tokens that see several. */
type CloudflareAccount = ProviderAccount & { readonly account?: string | undefined };

/** Cloudflare has a record for each value, with its own id, TTL and flags. */
export function cloudflareCalls(
  { token, account }: CloudflareAccount,
  client: HttpClient,
): ProviderCalls<readonly RecordRef[]> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${token()}` }));
  const ofAccount = account === undefined ? "" : `&account.id=${encodeURIComponent(account)}`;
  const zones = new ZoneRecords(api, token, ofAccount);
  return {
    service,
    rules,
    batch: { sizeOf, most: mostRecords },
    async zones(signal) {
      const answer = await api.pages(`/zones?per_page=50${ofAccount}`, { isItem: isZone, idOf, hasNext }, signal);
      if (answer.kind === "absent") return unknownCall(answer, service);
      return answer.kind === "ok"
        ? { kind: "found", value: answer.value.map(({ id, name }) => ({ id, name })) }
        : answer;
    },
    async sets(zone, signal) {
      return mapFound(await zones.records(zone, "", signal), (records) => {
        const alike = Map.groupBy(records, ({ name, type }) => `${zoneNameOf(name)} ${type}`);
        return [...alike.values()].flatMap((set) => {
          const [{ name, type } = { name: "", type: "" }] = set;
          const current = currentSetOf(set);
          return current ? [{ name: ownerOf(zoneNameOf(name), zone) ?? printable(name), type, ...current }] : [];
        });
      });
    },
    async read(set, signal) {
      const owner = absoluteName(set.name, set.zone);
      const lookup = await zones.records(set.zone, `&type=${set.type}&name=${encodeURIComponent(owner)}`, signal);
      return mapFound(lookup, (records) => currentSetOf(records.filter(isOf(set))));
    },
    async write(zone, changes, signal) {
      const id = await zones.id(zone, signal);
      if (id.kind !== "found") return { kind: "refused", because: id };
      if (changes.some(isTtlIgnored)) return { kind: "refused", because: otherTtl };
      return send(api, `/zones/${id.value}/dns_records`, changes, signal);
    },
    close: () => client.close(),
  };
}

const otherTtl: ServiceFault = {
  kind: "refused",
  because: `${service} serves proxied records with a TTL of ${servedAutomatically} seconds only`,
  todo: "give the set that TTL, or do not proxy it",
};

/** The records of zones, which the API knows by id. */
class ZoneRecords {
  readonly #api: JsonApi;
  readonly #token: () => string;
  readonly #ofAccount: string;
  /** Ids of zones never change, but another token may be that of another account. */
  readonly #ids = new Map<string, { readonly id: string; readonly token: string }>();

  constructor(api: JsonApi, token: () => string, ofAccount: string) {
    [this.#api, this.#token, this.#ofAccount] = [api, token, ofAccount];
  }

  async id(zone: string, signal: AbortSignal): Promise<Lookup<string>> {
    const [cached, token] = [this.#ids.get(zone), this.#token()];
    if (cached?.token === token) return { kind: "found", value: cached.id };
    const answer = await this.#api.get(`/zones?name=${encodeURIComponent(zone)}${this.#ofAccount}`, signal);
    const zones = listIn(answer, { service, key: "result", what: "zones", isItem: isZone });
    if (zones.kind !== "found") return zones;
    const [listedZone, ...others] = zones.value.filter(({ name }) => zoneNameOf(name) === zone);
    if (!listedZone) return noZone(zone, service);
    if (others.length > 0) return ambiguous(zone, [listedZone, ...others]);
    this.#ids.set(zone, { id: listedZone.id, token });
    return { kind: "found", value: listedZone.id };
  }

  async records(zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly ReadableRecord[]>> {
    const id = await this.id(zone, signal);
    if (id.kind !== "found") return id;
    const answer = await this.#api.pages(
      `/zones/${id.value}/dns_records?per_page=500${query}`,
      { isItem: isRecord, idOf, hasNext },
      signal,
    );
    if (answer.kind === "ok") return { kind: "found", value: answer.value };
    if (answer.kind !== "absent") return answer;
    this.#ids.delete(zone);
    return noZone(zone, service);
  }
}

/** One may be pending, or another account's that the token may see. */
const ambiguous = (zone: string, zones: readonly ReadableZone[]): ServiceFault => ({
  kind: "ambiguous",
  because: `${service} has ${zones.length} zones ${zone}: ${zones.map(zoneInWords).toSorted().join(", ")}`,
  todo: "add the id of one account: `account: ID` in the config of the updater, `?account=ID` in the URL of a provider",
});

function zoneInWords({ status, account }: ReadableZone): string {
  const { id, name } = isObject(account) ? account : {};
  const [title, accountId, state] = [name, id, status].map((field) => (isText(field) ? printable(field) : "unknown"));
  return `one in the account "${title}" (${accountId}, ${state})`;
}

const idOf = ({ id }: { readonly id: string }): string => id;

const hasNext = ({ result_info: info }: JsonBody, page: number): boolean =>
  isObject(info) && isNumber(info.total_pages) && page < info.total_pages;

type Changes = readonly ProviderSetChange<readonly RecordRef[]>[];

/**
 * One operation has a call of its own; several are one transaction. The answers have single records, and not what
 * somebody else has added to the set meanwhile: a read after the write shows that.
 */
async function send(
  api: JsonApi,
  path: string,
  changes: Changes,
  signal: AbortSignal,
): Promise<WriteAnswer<readonly (CurrentContent | undefined)[]>> {
  const all = changes.map(operationsFor);
  const { deletes, patches, posts }: Operations = {
    deletes: all.flatMap((each) => each.deletes),
    patches: all.flatMap((each) => each.patches),
    posts: all.flatMap((each) => each.posts),
  };
  const [deleted, patched, posted] = [deletes[0], patches[0], posts[0]];
  if (deletes.length + patches.length + posts.length > 1)
    return withoutSets(await api.send("POST", `${path}/batch`, { deletes, patches, posts }, [200], signal));
  if (deleted) {
    const gone = await api.send("DELETE", `${path}/${deleted.id}`, undefined, [200], signal);
    return gone.kind === "refused" && gone.because.kind === "absent"
      ? { kind: "accepted", value: [] }
      : withoutSets(gone);
  }
  const { id, ...content } = patched ?? { id: "" };
  if (!patched && !posted) return { kind: "accepted", value: [] };
  return withoutSets(
    patched
      ? await api.send("PATCH", `${path}/${id}`, content, [200], signal)
      : await api.send("POST", path, posted, [200], signal),
  );
}

type ReadableRecord = CloudflareContent & {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly proxied?: boolean;
};

const isOf =
  ({ zone, name, type }: SetName) =>
  (record: ReadableRecord): boolean =>
    record.type === type && zoneNameOf(record.name) === absoluteName(name, zone);

function currentSetOf(records: readonly ReadableRecord[]): CurrentSet<readonly RecordRef[]> | undefined {
  const [first] = records;
  if (!first) return undefined;
  const raw = records.map(({ id, ttl, proxied = false, ...record }) => ({
    id,
    ttl,
    proxied,
    value: valueIn(first.type, record),
  }));
  const hasMixedTtl = records.some(({ ttl }) => ttl !== first.ttl);
  const ttl = first.ttl === automatic ? null : first.ttl;
  const proxied = raw.some((record) => record.proxied) && { proxied: true as const };
  return { values: raw.map(({ value }) => value), ttl, hasMixedTtl, ...proxied, raw };
}

const isRecord = (value: unknown): value is ReadableRecord =>
  isObject(value) && [value.id, value.name, value.type, value.content].every(isText) && isNumber(value.ttl);

const isZone = withFields({ id: isText, name: isText });

type ReadableZone = ItemOf<typeof isZone>;
