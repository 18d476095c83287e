import type { Instant } from "../../../core/instant.ts";
import { absoluteName, ownerOf } from "../../../core/names/name.ts";
import { exactRdata, parseRdata, rdataToWire, readableRdata } from "../../../core/rdata/rdata.ts";
import { parseType, type RecordType, typeCode, typeFromCode, typeName } from "../../../core/rdata/table.ts";
import { highestTtl } from "../../../core/records/rrset.ts";
import type { DnsRequest } from "../../../lib/dns/ask.ts";
import { classes, opcodes, rcodes, types } from "../../../lib/dns/codes.ts";
import type { Message, ResourceRecord } from "../../../lib/dns/message.ts";
import { mapFound } from "../../answers/list-in.ts";
import { cannotList } from "../../answers/service-answer.ts";
import type { Lookup, ServiceFault } from "../../answers/service-fault.ts";
import { unknown, type WriteAnswer } from "../../answers/write-answer.ts";
import type { CurrentSet, ProviderCalls, ProviderSetChange, SetContent, SetName } from "../../provider-calls.ts";
import { type AskServer, askerOf, nameOfKey, type UpdateServer } from "./ask-server.ts";
import { changedMeanwhile, isAlias, notItsZone, refusalOfQuery, refusalOfUpdate, service } from "./update-faults.ts";

/** For a set that is created without a TTL. */
const usualTtl = 300;
const cname = 5;
/** A message over TCP has at most 65,535 bytes; the header and the signature need less than 1,000. */
const mostBytes = 64_000;

const rules: ProviderCalls["rules"] = {
  ttl: { lowest: 0, highest: highestTtl, zoneDefault: false },
  mostValues: 1_000,
  mostSets: 500,
  needsBefore: false,
};

/** Made by the server when it signs the zone. DNSKEY stays in the list: it shows that the zone is signed. */
const ownTypes: readonly string[] = ["RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "CDS", "CDNSKEY", "TYPE65534"];

type Change = ProviderSetChange<undefined>;

export type DnsUpdateOptions = {
  /**
   * For sets that are known by queries only: an alias is a fault, and a wildcard may have answered instead of the set.
   */
  readonly onlyQueries?: boolean;
  readonly now?: (() => Instant) | undefined;
};

/** DNS UPDATE (RFC 2136). Reads by a query to the same server, and lists by AXFR; everything is signed. */
export function updateCalls(
  server: UpdateServer,
  { onlyQueries = false, now = Date.now }: DnsUpdateOptions = {},
): ProviderCalls<undefined> {
  const { ask, transfer } = askerOf(server, now);
  const sets: ProviderCalls<undefined>["sets"] = async (zone, signal) =>
    mapFound(await transfer(zone, signal), (records) => setsIn(records, zone));
  const send = async (changes: readonly Change[], signal: AbortSignal) =>
    outcomeOf(await ask(updateOf(changes), signal), changes, server);
  return {
    service,
    rules,
    batch: { sizeOf, most: mostBytes },
    zones: async () => cannotList(service, "zones of DNS UPDATE are named one by one", "zones"),
    sets,
    async read(set, signal) {
      const heard = await ask({ opcode: opcodes.query, question: questionOf(set) }, signal);
      if (heard.kind !== "heard") return heard.kind === "silence" && heard.refused ? notItsZone(set.zone) : heard.fault;
      if (onlyQueries) return currentSetIn(heard.message, set, isAlias(set));
      if (isReferral(heard.message, set)) {
        const named = ({ name, type }: Omit<SetName, "zone">) => name === set.name && type === set.type;
        return mapFound(await sets(set.zone, signal), (all) => all.find(named));
      }
      const lookup = currentSetIn(heard.message, set);
      return lookup.kind === "found" && lookup.value && !(await exists(ask, set, signal)) ? missing : lookup;
    },
    async write(_, changes, signal) {
      const written = await send(changes, signal);
      if (written !== "no-such-set") return settled(written);
      const [only, ...others] = changes;
      const wasQueried = onlyQueries && others.length === 0;
      if (!wasQueried || !only?.content || typeof only.before !== "object") return settled(written);
      // The query may have been answered from a wildcard: then there is no such set to replace, and one can be created.
      const ttl = only.content.ttl ?? only.before.ttl;
      return settled(await send([{ ...only, content: { ...only.content, ttl }, before: "missing" }], signal));
    },
    close: () => undefined,
  };
}

const missing: Lookup<undefined> = { kind: "found", value: undefined };

const nameOf = ({ zone, name }: SetName) => absoluteName(name, zone);

const typeOf = ({ type }: SetName): RecordType => {
  const recordType = parseType(type);
  if (recordType === undefined) throw new Error(`not a type: ${type}`);
  return recordType;
};

const questionOf = (set: SetName) => ({ name: nameOf(set), type: typeCode(typeOf(set)), class: classes.in });

const recordOf = (set: SetName, klass: number, ttl: number, data: Uint8Array = new Uint8Array()): ResourceRecord => ({
  ...questionOf(set),
  class: klass,
  ttl,
  data,
});

function dataOf(set: SetName, value: string): Uint8Array {
  const rdata = parseRdata(typeOf(set), value, set.zone);
  if (!rdata.ok) throw new Error(`not the data of a ${set.type} record: ${value}`);
  return rdataToWire(rdata.value);
}

/**
 * RFC 2136 section 2.4: the update is carried out only if every set that was read is exactly as it was, or still
 * missing.
 */
function updateOf(changes: readonly Change[]): DnsRequest {
  return {
    opcode: opcodes.update,
    question: { name: changes[0]?.set.zone ?? "", type: types.soa, class: classes.in },
    answers: changes.flatMap(({ set, before }) => {
      if (before === undefined) return [];
      const values = before === "missing" ? [] : before.values;
      if (values.length === 0) return [recordOf(set, classes.none, 0)];
      return values.map((value) => recordOf(set, classes.in, 0, dataOf(set, value)));
    }),
    authorities: changes.flatMap(({ set, content, before }) => [
      ...(isMissing(before) ? [] : [recordOf(set, classes.any, 0)]),
      ...(content?.values ?? []).map((value) => recordOf(set, classes.in, ttlOf(content, before), dataOf(set, value))),
    ]),
  };
}

const isMissing = (before: Change["before"]): boolean =>
  before === "missing" || (before !== undefined && before.values.length === 0);

const ttlOf = (content: SetContent | undefined, before: Change["before"]): number =>
  content?.ttl ?? (typeof before === "object" ? before.ttl : undefined) ?? usualTtl;

/** Each record with its name in full, and the ten bytes of its fields. */
const sizeOf = ({ set, content, before }: Change): number => {
  const values = [...(content?.values ?? []), ...(typeof before === "object" ? before.values : [])];
  const record = nameOf(set).length + 2 + 10;
  return 2 * record + values.reduce((sum, value) => sum + record + dataOf(set, value).length, 0);
};

/**
 * A query may be answered from a wildcard; the prerequisite of an update, which changes nothing, is not (RFC 2136
 * section 2.4.1).
 */
async function exists(ask: AskServer, set: SetName, signal: AbortSignal): Promise<boolean> {
  const question = { name: set.zone, type: types.soa, class: classes.in };
  const answers = [recordOf(set, classes.any, 0)];
  const heard = await ask({ opcode: opcodes.update, question, answers }, signal);
  const { rcode } = heard.kind === "heard" ? heard.message : { rcode: rcodes.noError };
  return rcode !== rcodes.nxRrset && rcode !== rcodes.nxDomain;
}

/** The name is in or below a delegation, and the server answers for the parent only. */
const isReferral = ({ rcode, authoritative, authorities }: Message, { zone }: SetName): boolean =>
  rcode === rcodes.noError &&
  !authoritative &&
  authorities.some(({ name, type }) => type === 2 && name !== zone && ownerOf(name, zone) !== undefined);

function currentSetIn(message: Message, set: SetName, alias?: ServiceFault): Lookup<CurrentSet<undefined> | undefined> {
  if (message.rcode !== rcodes.noError && message.rcode !== rcodes.nxDomain)
    return refusalOfQuery(message.rcode, set.zone, `query for ${nameOf(set)}`);
  if (!message.authoritative) return notItsZone(set.zone);
  const own = message.answers.filter(({ name, class: klass }) => name === nameOf(set) && klass === classes.in);
  if (alias && set.type !== "CNAME" && own.some(({ type }) => type === cname)) return alias;
  const code = typeCode(typeOf(set));
  return { kind: "found", value: currentSetOf(own.filter(({ type }) => type === code)) };
}

function currentSetOf(records: readonly ResourceRecord[]): CurrentSet<undefined> | undefined {
  const [first] = records;
  return first && { values: records.map(textOf), ttl: first.ttl, raw: undefined };
}

function textOf({ type: code, data }: ResourceRecord): string {
  const type = typeFromCode(code);
  const rdata = type && exactRdata(type, data);
  if (type && rdata?.ok) return readableRdata(type, rdata.value.text);
  return `\\# ${data.length} ${Buffer.from(data).toString("hex")}`;
}

const setsIn = (records: readonly ResourceRecord[], zone: string) =>
  [...Map.groupBy(records, ({ name, type }) => `${name} ${type}`).values()].flatMap((alike) => {
    const [{ name, type: code } = { name: "", type: 0 }] = alike;
    const [owner, current] = [ownerOf(name, zone), currentSetOf(alike)];
    const type = typeName(typeFromCode(code) ?? `TYPE${code}`);
    return owner === undefined || current === undefined || ownTypes.includes(type)
      ? []
      : [{ name: owner, type, ...current }];
  });

function outcomeOf(
  heard: Awaited<ReturnType<AskServer>>,
  changes: readonly Change[],
  server: UpdateServer,
): WriteAnswer<readonly undefined[]> | "no-such-set" {
  if (heard.kind === "silence") return unknown(heard.fault);
  if (heard.kind === "rejected") return { kind: "refused", because: heard.fault };
  const { rcode } = heard.message;
  if (rcode === rcodes.noError) return { kind: "accepted", value: [] };
  if (rcode === rcodes.nxRrset || rcode === rcodes.nxDomain) return "no-such-set";
  const names = changes.map(({ set }) => `${nameOf(set)} ${set.type}`);
  const fault = refusalOfUpdate(rcode, names, nameOfKey(server));
  // After a failure in between, a server must undo everything (RFC 2136 section 3.4.2), but perhaps not every server
  // does.
  return rcode === rcodes.servFail ? unknown(fault) : { kind: "refused", because: fault };
}

const settled = (written: WriteAnswer<readonly undefined[]> | "no-such-set"): WriteAnswer<readonly undefined[]> =>
  written === "no-such-set" ? { kind: "refused", because: changedMeanwhile } : written;
