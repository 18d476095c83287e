import type { ReadableRecord } from "../../../contract/records-v1-client.ts";
import { lowestTtl } from "../../../contract/rrsets-limits.ts";
import { parseOwner } from "../../../core/names/name.ts";
import { highestTtl } from "../../../core/records/rrset.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { mapFound } from "../../answers/list-in.ts";
import { later, noZone, unknownCall } from "../../answers/service-answer.ts";
import type { Lookup } from "../../answers/service-fault.ts";
import { unknown, type WriteAnswer } from "../../answers/write-answer.ts";
import type {
  CurrentSet,
  ListedZone,
  ProviderAccount,
  ProviderCalls,
  ProviderRules,
  ProviderSetChange,
  SetName,
} from "../../provider-calls.ts";
import { recordDiff } from "../../record-diff.ts";
import { type V1Http, v1Http } from "./v1-http.ts";

const rules: ProviderRules = {
  ttl: { lowest: lowestTtl, highest: highestTtl, zoneDefault: true },
  // "type" in https://dns.hetzner.com/api-docs; PTR is taken, although it is only documented for answers.
  types: "A AAAA CAA CNAME DS HINFO MX NS PTR RP SRV TLSA TXT".split(" "),
  mostValues: 50,
  mostSets: 1,
  needsBefore: true,
  writesInSteps: true,
  readsWholeZone: true,
};

type Records = readonly ReadableRecord[];

/** Hetzner's retired API, which `moor records` still has: a record for each value, with its own id and TTL. */
export type V1Calls = ProviderCalls<Records> & {
  readonly http: V1Http;
  zoneId(zone: string, signal: AbortSignal): Promise<Lookup<string>>;
};

export function v1Calls(
  account: ProviderAccount,
  client: HttpClient,
  { service = "the record service", now = Date.now }: { readonly service?: string; readonly now?: () => number } = {},
): V1Calls {
  const http = v1Http(account, client, { service, now });
  const zoneId = (zone: string, signal: AbortSignal) => findZone(http, service, zone, signal);
  /** As the last list of their records had them: a write comes after one. */
  const ids = new Map<string, string>();
  const records = async (zone: string, signal: AbortSignal): Promise<Lookup<Records>> => {
    const id = await zoneId(zone, signal);
    if (id.kind !== "found") return id;
    ids.set(zone, id.value);
    const answer = await http.records(id.value, signal);
    if (answer.kind !== "ok") return answer.kind === "absent" ? noZone(zone, service) : answer;
    // A service may ignore the zone id and list the records of all zones.
    return { kind: "found", value: answer.value.filter(({ zone_id }) => zone_id === id.value) };
  };
  return {
    service,
    rules,
    http,
    zoneId,
    async zones(signal) {
      const answer = await http.zones(undefined, signal);
      if (answer.kind === "ok") return { kind: "found", value: answer.value.map(zoneFromWire) };
      if (answer.kind !== "absent") return answer;
      return /zone/i.test(answer.message) ? { kind: "found", value: [] } : unknownCall(answer, service);
    },
    async sets(zone, signal) {
      return mapFound(await records(zone, signal), (all) => {
        const alike = Map.groupBy(all, (record) => `${ownerIn(record, zone)} ${record.type}`);
        return [...alike.values()].flatMap(([first, ...others]) =>
          first ? [{ name: ownerIn(first, zone), type: first.type, ...currentSetOf([first, ...others]) }] : [],
        );
      });
    },
    async read(set, signal) {
      const lookup = await records(set.zone, signal);
      return mapFound(lookup, (all) => {
        const own = all.filter((record) => record.type === set.type && ownerIn(record, set.zone) === set.name);
        return own.length > 0 ? currentSetOf(own) : undefined;
      });
    },
    async write(zone, [change], signal) {
      if (!change) return { kind: "accepted", value: [] };
      const current = typeof change.before === "object" ? change.before.raw : [];
      const listedId = current[0]?.zone_id ?? ids.get(zone);
      const id = listedId === undefined ? await zoneId(zone, signal) : ({ kind: "found", value: listedId } as const);
      if (id.kind !== "found") return { kind: "refused", because: id };
      return inOrder(requestsFor(http, change, current, id.value, signal), change);
    },
    close: () => client.close(),
  };
}

export const ownerIn = ({ name }: ReadableRecord, zone: string): string => {
  const owner = parseOwner(name, zone);
  return owner.ok ? owner.value : name;
};

const currentSetOf = (records: Records): CurrentSet<Records> => ({
  values: records.map(({ value }) => value),
  ttl: records[0]?.ttl ?? null,
  hasMixedTtl: records.some(({ ttl }) => (ttl ?? null) !== (records[0]?.ttl ?? null)),
  raw: records,
});

const zoneFromWire = ({ id, name, ttl }: { id: string; name: string; ttl?: number | null }): ListedZone => ({
  id,
  name,
  ...(typeof ttl === "number" && { ttl }),
});

async function findZone(http: V1Http, service: string, zone: string, signal: AbortSignal): Promise<Lookup<string>> {
  const answer = await http.zones(zone, signal);
  if (answer.kind === "absent") return answer.message === "" ? unknownCall(answer, service) : noZone(zone, service);
  if (answer.kind !== "ok") return answer;
  const listedZone = answer.value.find(({ name }) => name.toLowerCase().replace(/\.$/, "") === zone);
  return listedZone ? { kind: "found", value: listedZone.id } : noZone(zone, service);
}

type Request = () => Promise<WriteAnswer<ReadableRecord | undefined>>;

/**
 * Nothing is removed before the new values are there. Sends names as the records spell them: a service may return
 * `home.example.org.` for `home`.
 */
function requestsFor(
  http: V1Http,
  { set, content }: ProviderSetChange<Records>,
  current: Records,
  zoneId: string,
  signal: AbortSignal,
): readonly Request[] {
  const { kept, changed, removed, added } = recordDiff(set, current, content?.values ?? []);
  const ttlOf = (record?: ReadableRecord) => (content?.ttl === undefined ? record?.ttl : content.ttl) ?? undefined;
  const isOtherTtl = (record: ReadableRecord) => (record.ttl ?? undefined) !== ttlOf(record);
  const replace =
    (record: ReadableRecord, value: string): Request =>
    async () => {
      const { id, type, name, zone_id } = record;
      const ttl = ttlOf(record);
      const written = await http.replace(id, { value, ttl, type, name, zone_id }, signal);
      const isIt = written.kind !== "accepted" || (written.value.id === id && isRecordOf(set, zone_id, written.value));
      return isIt ? written : unknown(otherRecord(id), true);
    };
  const create =
    (value: string): Request =>
    () => {
      const ttl = ttlOf(current[0]);
      const { name, type } = set;
      return http.create({ value, ttl, type, name, zone_id: zoneId }, signal);
    };
  const requests: readonly Request[] = [
    ...changed.map(({ record, value }) => replace(record, value)),
    ...kept.filter(isOtherTtl).map((record) => replace(record, record.value)),
    ...added.map(create),
    ...removed.map(
      ({ id }) =>
        () =>
          http.remove(id, signal),
    ),
  ];
  // Who orders what is there already wants it written again.
  return requests.length === 0 && kept[0] ? [replace(kept[0], kept[0].value)] : requests;
}

/**
 * A set of several values needs several requests: if one fails after another was carried out, what the set holds is
 * unknown. What the answers repeat is no proof: the set is read afterwards.
 */
async function inOrder(
  requests: readonly Request[],
  { set }: ProviderSetChange<Records>,
): Promise<WriteAnswer<readonly undefined[]>> {
  for (const [at, request] of requests.entries()) {
    const written = await request();
    if (written.kind === "accepted") continue;
    if (at === 0 && (requests.length === 1 || written.kind === "refused")) return written;
    if (written.kind === "unknown") return unknown(written.fault);
    return unknown(written.because.kind === "absent" ? removedMeanwhile(set) : written.because);
  }
  return { kind: "accepted", value: [] };
}

export const isRecordOf = (
  { zone, name, type }: SetName,
  zoneId: string | undefined,
  record: ReadableRecord,
): boolean => record.type === type && ownerIn(record, zone) === name && record.zone_id === zoneId;

const otherRecord = (id: string) =>
  later(
    "the record service reported success, but its answer contains a different record",
    `check it with \`moor record show ${id}\``,
  );

const removedMeanwhile = ({ name, type }: SetName) =>
  later(`a record of ${name} ${type} was removed while the set was written`);
