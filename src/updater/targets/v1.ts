import type { ReadableRecord, ReadableZone, RecordReplacement } from "../../contract/records-v1-client.ts";
import { parseAddress, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName, parseOwner } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { later, noZone, unknownCall } from "../../providers/answers/service-answer.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { ListedZone } from "../../providers/provider-calls.ts";
import type { ListedRecord, RecordTarget, ReplaceOrder, TargetFault, TargetKind, WriteOutcome } from "./target.ts";
import { type TokenTarget, tokenSettings } from "./token-target.ts";
import { createV1Calls, type V1Calls } from "./v1-calls.ts";

export const v1 = {
  ...tokenSettings(
    "Target: v1",
    "`Auth-API-Token` and `/api/v1/records`, an API of `moor records`. The records must exist.",
    "https://dns.example.org",
  ),
  can: { create: false, ttl: true },
  open: async (config: TokenTarget, connect) => createV1Target(config, await connect(config)),
} satisfies TargetKind<TokenTarget>;

/** The v1 API. Records are looked up when a write is needed; only their ids are cached. */
export function createV1Target(config: TokenTarget, client: HttpClient, now: () => number = Date.now): RecordTarget {
  const calls = createV1Calls(config, client, now);
  const service: Service = { calls, recordIds: new Map(), zoneIds: new Map() };
  return {
    async replace(order, signal) {
      const found = await findKnown(service, order, signal);
      if (found.kind !== "found") return { kind: "refused", fault: found };
      return replaceRecord(calls, order, found.value, signal);
    },
    async current(order, signal) {
      const found = await findKnown(service, order, signal);
      if (found.kind !== "found") return found;
      const { value, ttl = null } = found.value;
      return { kind: "found", value: { values: [value], ttl } };
    },
    async zones(signal) {
      const answer = await calls.zones(undefined, signal);
      if (answer.kind === "ok") return { kind: "found", value: answer.value.map(zoneFromWire) };
      if (answer.kind !== "absent") return answer;
      return /zone/i.test(answer.said) ? { kind: "found", value: [] } : unknownCall(answer);
    },
    async records(zone, signal) {
      const id = await findZone(calls, zone, signal);
      if (id.kind !== "found") return id;
      const answer = await calls.records(id.value, signal);
      if (answer.kind !== "ok") return answer.kind === "absent" ? noZone(zone) : answer;
      return { kind: "found", value: inZone(answer.value, id.value).map(fromWire) };
    },
    async record(id, signal) {
      const answer = await calls.record(id, signal);
      if (answer.kind === "ok") return { kind: "found", value: fromWire(answer.value) };
      return answer.kind === "absent" ? noRecordWithId(id) : answer;
    },
    close: () => client.close(),
  };
}

/** The calls, with a cache of record and zone ids. */
type Service = {
  readonly calls: V1Calls;
  readonly recordIds: Map<string, string>;
  readonly zoneIds: Map<string, string>;
};

/** By the cached id, otherwise by searching the zone. Always checks that it is the record of the config entry. */
async function findKnown(service: Service, order: Sought, signal: AbortSignal): Promise<Lookup<ReadableRecord>> {
  const { calls, recordIds, zoneIds } = service;
  if (order.recordId !== undefined) return findById(service, order, order.recordId, signal);
  const key = keyOf(order);
  const id = recordIds.get(key);
  if (id !== undefined) {
    const answer = await calls.record(id, signal);
    if (answer.kind !== "ok" && answer.kind !== "absent") return answer;
    const isIt = answer.kind === "ok" && !mismatchOf(order, answer.value, id, zoneIds.get(order.zone));
    if (isIt) return { kind: "found", value: answer.value };
    // Deleted or renamed, and perhaps created again in the console: search again.
    recordIds.delete(key);
  }
  return findRecord(service, order, signal);
}

type Sought = Omit<ReplaceOrder, "value">;

const keyOf = ({ zone, name, family }: Sought) => `${zone} ${name} ${recordTypeOf(family)}`;

function keyOfRecord(zone: string, { name, type }: ReadableRecord): string {
  const owner = parseOwner(name, zone);
  return `${zone} ${owner.ok ? owner.value : ""} ${type}`;
}

async function replaceRecord(
  calls: V1Calls,
  order: ReplaceOrder,
  record: ReadableRecord,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const { id, zone_id } = record;
  const answer = await calls.replace(id, replacementFor(order, record), signal);
  if (answer.kind === "refused") {
    const { because } = answer;
    return { kind: "refused", fault: because.kind === "absent" ? noRecordWithId(id) : because };
  }
  const isIt = (sent: ReadableRecord) => !mismatchOf(order, sent, id, zone_id);
  const holds = (sent: ReadableRecord) => isIt(sent) && parseAddress(sent.value)?.text === order.value;
  const done = ({ ttl = null }: ReadableRecord): WriteOutcome => ({ kind: "done", recordId: id, ttl });
  if (answer.kind === "accepted" && holds(answer.value)) return done(answer.value);
  // Some services have answered 200 with the old value.
  const fault = answer.kind === "unknown" ? answer.fault : notTaken(id, isIt(answer.value));
  if (answer.kind === "unknown" && !answer.probablyDone) return { kind: "unknown", fault };
  const held = await calls.record(id, signal);
  return held.kind === "ok" && holds(held.value) ? done(held.value) : { kind: "unknown", fault };
}

const notTaken = (id: string, isIt: boolean): TargetFault =>
  later(
    `the record service reported success, but ${isIt ? "its record does not hold the new address" : "its answer contains a different record"}`,
    `check it with \`moor show ${printable(id)}\``,
  );

/** Sends the name as the record spells it: for `home`, a service may also return `home.example.org.`. */
function replacementFor(order: ReplaceOrder, record: ReadableRecord): RecordReplacement {
  const ttl = order.ttl ?? record.ttl ?? undefined;
  return {
    value: order.value,
    ...(ttl === undefined ? {} : { ttl }),
    type: record.type,
    name: record.name,
    zone_id: record.zone_id,
  };
}

async function findRecord(service: Service, order: Sought, signal: AbortSignal): Promise<Lookup<ReadableRecord>> {
  const { calls, recordIds, zoneIds } = service;
  const zone = await findZone(calls, order.zone, signal);
  if (zone.kind !== "found") return zone;
  zoneIds.set(order.zone, zone.value);
  const answer = await calls.records(zone.value, signal);
  if (answer.kind !== "ok") return answer.kind === "absent" ? noZone(order.zone) : answer;
  const alike = Map.groupBy(inZone(answer.value, zone.value), (record) => keyOfRecord(order.zone, record));
  // So that a thousand names in one zone do not read its list a thousand times.
  for (const [key, [only, another]] of alike) if (only && !another) recordIds.set(key, only.id);
  const [first, ...others] = alike.get(keyOf(order)) ?? [];
  if (!first) return noRecord(order);
  return others.length === 0 ? { kind: "found", value: first } : ambiguous(order, [first, ...others]);
}

/** A service may ignore the zone id and list the records of all zones. */
const inZone = (records: readonly ReadableRecord[], id: string) => records.filter(({ zone_id }) => zone_id === id);

/** The record id in the config may be wrong: only the record that the entry describes may be overwritten. */
async function findById(
  { calls, zoneIds }: Service,
  order: Sought,
  id: string,
  signal: AbortSignal,
): Promise<Lookup<ReadableRecord>> {
  const answer = await calls.record(id, signal);
  if (answer.kind !== "ok") return answer.kind === "absent" ? noRecordWithId(id) : answer;
  if (!zoneIds.has(order.zone)) {
    const zone = await findZone(calls, order.zone, signal);
    if (zone.kind !== "found") return zone;
    zoneIds.set(order.zone, zone.value);
  }
  const mismatch = mismatchOf(order, answer.value, id, zoneIds.get(order.zone));
  // The zone may have been deleted and created again with another id.
  if (mismatch) zoneIds.delete(order.zone);
  return mismatch ?? { kind: "found", value: answer.value };
}

async function findZone(calls: V1Calls, zone: string, signal: AbortSignal): Promise<Lookup<string>> {
  const answer = await calls.zones(zone, signal);
  if (answer.kind === "absent") return answer.said === "" ? unknownCall(answer) : noZone(zone);
  if (answer.kind !== "ok") return answer;
  const found = answer.value.find(({ name }) => name.toLowerCase().replace(/\.$/, "") === zone);
  return found ? { kind: "found", value: found.id } : noZone(zone);
}

function mismatchOf(
  { zone, name, family }: Sought,
  record: ReadableRecord,
  id: string,
  zoneId: string | undefined,
): TargetFault | undefined {
  const type = recordTypeOf(family);
  const owner = parseOwner(record.name, zone);
  const isNamed = record.type === type && owner.ok && owner.value === name;
  if (isNamed && record.zone_id === zoneId && record.id === id) return undefined;
  const found = isNamed ? "in another zone" : printable(`${record.name} ${record.type}`);
  return {
    kind: "refused",
    because: `the record ${id} is ${found}, but the config uses it for ${absoluteName(name, zone)} ${type}`,
    todo: `correct \`record:\` in the config; \`moor list ${zone}\` shows the ids`,
  };
}

const fromWire = ({ id, zone_id, name, type, value, ttl }: ReadableRecord): ListedRecord => ({
  id,
  zoneId: zone_id,
  name,
  type,
  value,
  ...(typeof ttl === "number" ? { ttl } : {}),
});

const zoneFromWire = ({ id, name, ttl }: ReadableZone): ListedZone => ({
  id,
  name,
  ...(typeof ttl === "number" ? { ttl } : {}),
});

const noRecord = ({ zone, name, family }: Sought): TargetFault => ({
  kind: "missing",
  because: `there is no record ${absoluteName(name, zone)} ${recordTypeOf(family)}`,
  todo: `create it in the console, with any address; \`moor list ${zone}\` lists the existing ones`,
});

const noRecordWithId = (id: string): TargetFault => ({
  kind: "missing",
  because: `there is no record with the id ${printable(id)}`,
  todo: "`moor zones` and `moor list ZONE` show the existing ones",
});

const ambiguous = ({ zone, name, family }: Sought, records: readonly ReadableRecord[]): TargetFault => ({
  kind: "ambiguous",
  because: `there are ${records.length} records ${absoluteName(name, zone)} ${recordTypeOf(family)}`,
  todo: `choose one with \`${family}: { interface: …, record: ID }\`; the ids are ${firstFew(records.map(({ id }) => printable(id)))}`,
});
