import type { ReadableRecord } from "../../contract/records-v1-client.ts";
import { parseAddress, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import { unknown } from "../../providers/answers/write-answer.ts";
import type { CurrentSet, SetName } from "../../providers/provider-calls.ts";
import { isRecordOf, ownerIn, type V1Calls, v1Calls } from "../../providers/services/hetzner/v1.ts";
import { setCallsOf } from "./on-provider.ts";
import { createSetTarget, noRecordWithId, notTaken, type RequestedSet } from "./set-target.ts";
import type { ListedRecord, RecordTarget, TargetFault, TargetKind } from "./target.ts";
import { type TokenTarget, tokenSettings } from "./token-target.ts";

export const v1 = {
  ...tokenSettings(
    "Target: v1",
    "`Auth-API-Token` and `/api/v1/records`, an API of `moor records`.",
    "https://dns.example.org",
  ),
  can: { create: true, ttl: true },
  open: async (config: TokenTarget, connect) => createV1Target(config, await connect(config)),
} satisfies TargetKind<TokenTarget>;

/**
 * The v1 API. A set is one record, which the config may name by its id. Records are looked up when a write is needed;
 * only their ids are cached.
 */
export function createV1Target(config: TokenTarget, client: HttpClient, now: () => number = Date.now): RecordTarget {
  const calls = v1Calls(config, client, { now });
  const { remove: _, ...setCalls } = setCallsOf(calls);
  const finder = new RecordFinder(calls);
  return createSetTarget({
    ...setCalls,
    beforeWrite: "read",
    read: (set, signal) => finder.find(set, signal),
    async write(set, content, current, signal) {
      const written = await setCalls.write(set, content, current, signal);
      const [value = ""] = (written.kind === "accepted" && written.value?.values) || [];
      // Some services have answered 200 with the old value.
      const isTaken = written.kind !== "accepted" || parseAddress(value)?.text === content.value;
      return isTaken ? written : unknown(notTaken(calls.service, current?.raw[0]?.id ?? ""), true);
    },
    async records(zone, signal) {
      const setsLookup = await calls.sets(zone, signal);
      return setsLookup.kind === "found"
        ? { kind: "found", value: setsLookup.value.flatMap(({ raw }) => raw.map(fromWire)) }
        : setsLookup;
    },
    async record(id, signal) {
      const answer = await calls.http.record(id, signal);
      if (answer.kind === "ok") return { kind: "found", value: fromWire(answer.value) };
      return answer.kind === "absent" ? noRecordWithId(id, idHint) : answer;
    },
  });
}

/** Undefined if the zone has no such record. */
type SetLookup = Lookup<CurrentSet<readonly ReadableRecord[]> | undefined>;

/** Finds the record of a set, and remembers its id. */
class RecordFinder {
  readonly #calls: V1Calls;
  readonly #recordIds = new Map<string, string>();
  readonly #zoneIds = new Map<string, string>();

  constructor(calls: V1Calls) {
    this.#calls = calls;
  }

  /** By the cached id, otherwise by searching the zone. Always checks that it is the record of the config entry. */
  async find(set: RequestedSet, signal: AbortSignal): Promise<SetLookup> {
    if (set.recordId !== undefined) return this.#findById(set, set.recordId, signal);
    const id = this.#recordIds.get(keyOf(set));
    if (id !== undefined) {
      const answer = await this.#calls.http.record(id, signal);
      if (answer.kind !== "ok" && answer.kind !== "absent") return answer;
      const isIt = answer.kind === "ok" && !mismatchOf(set, answer.value, id, this.#zoneIds.get(set.zone));
      if (isIt) return { kind: "found", value: currentSetOf(answer.value) };
      // Deleted or renamed, and perhaps created again in the console: search again.
      this.#recordIds.delete(keyOf(set));
    }
    return this.#search(set, signal);
  }

  async #search(set: SetName, signal: AbortSignal): Promise<SetLookup> {
    const setsLookup = await this.#calls.sets(set.zone, signal);
    if (setsLookup.kind !== "found") return setsLookup;
    // So that a thousand names in one zone do not read its list a thousand times.
    for (const { name, type, raw } of setsLookup.value) {
      const [only, another] = raw;
      if (!only || another) continue;
      this.#recordIds.set(keyOf({ zone: set.zone, name, type }), only.id);
      this.#zoneIds.set(set.zone, only.zone_id);
    }
    const [first, ...others] =
      setsLookup.value.find(({ name, type }) => name === set.name && type === set.type)?.raw ?? [];
    if (!first) return { kind: "found", value: undefined };
    return others.length === 0 ? { kind: "found", value: currentSetOf(first) } : ambiguous(set, [first, ...others]);
  }

  /** The record id in the config may be wrong: only the record that the entry describes may be overwritten. */
  async #findById(set: SetName, id: string, signal: AbortSignal): Promise<SetLookup> {
    const answer = await this.#calls.http.record(id, signal);
    if (answer.kind !== "ok") return answer.kind === "absent" ? noRecordWithId(id, idHint) : answer;
    if (!this.#zoneIds.has(set.zone)) {
      const zone = await this.#calls.zoneId(set.zone, signal);
      if (zone.kind !== "found") return zone;
      this.#zoneIds.set(set.zone, zone.value);
    }
    const mismatch = mismatchOf(set, answer.value, id, this.#zoneIds.get(set.zone));
    // The zone may have been deleted and created again with another id.
    if (mismatch) this.#zoneIds.delete(set.zone);
    return mismatch ?? { kind: "found", value: currentSetOf(answer.value) };
  }
}

const keyOf = ({ zone, name, type }: SetName) => `${zone} ${name} ${type}`;

const currentSetOf = (record: ReadableRecord): CurrentSet<readonly ReadableRecord[]> => ({
  values: [record.value],
  ttl: record.ttl ?? null,
  raw: [record],
});

function mismatchOf(
  set: SetName,
  record: ReadableRecord,
  id: string,
  zoneId: string | undefined,
): TargetFault | undefined {
  if (isRecordOf(set, zoneId, record) && record.id === id) return undefined;
  const { zone, name, type } = set;
  const isNamed = record.type === type && ownerIn(record, zone) === name;
  const actualText = isNamed ? "in another zone" : printable(`${record.name} ${record.type}`);
  return {
    kind: "refused",
    because: `the record ${id} is ${actualText}, but the config uses it for ${absoluteName(name, zone)} ${type}`,
    todo: `correct \`record:\` in the config; \`moor record list ${zone}\` shows the ids`,
  };
}

const fromWire = ({ id, zone_id, name, type, value, ttl }: ReadableRecord): ListedRecord => ({
  id,
  zoneId: zone_id,
  name,
  type,
  value,
  ...(typeof ttl === "number" && { ttl }),
});

const idHint = "`moor zone list` and `moor record list ZONE` show the existing ones";

const ambiguous = ({ zone, name, type }: SetName, records: readonly ReadableRecord[]): TargetFault => ({
  kind: "ambiguous",
  because: `there are ${records.length} records ${absoluteName(name, zone)} ${type}`,
  todo: `choose one with \`${type === recordTypeOf("ipv4") ? "ipv4" : "ipv6"}: { interface: …, record: ID }\`; the ids are ${firstFew(records.map(({ id }) => printable(id)))}`,
});
