import { setTimeout as pause } from "node:timers/promises";
import type { NewRRset, ReadableAction, ReadableRRset } from "../../../contract/rrsets-client.ts";
import { lowestTtl, mostChanges, mostRecords } from "../../../contract/rrsets-limits.ts";
import { parseOwner } from "../../../core/names/name.ts";
import { highestTtl } from "../../../core/records/rrset.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { mapFound } from "../../answers/list-in.ts";
import {
  type Absent,
  later,
  noZone,
  type ServiceAnswer,
  unexpected,
  unknownCall,
} from "../../answers/service-answer.ts";
import type { Lookup, ServiceFault } from "../../answers/service-fault.ts";
import { unknown, type WriteAnswer, withoutSets } from "../../answers/write-answer.ts";
import type {
  CurrentContent,
  CurrentSet,
  ProviderAccount,
  ProviderCalls,
  ProviderRules,
  ProviderSetChange,
  SetContent,
  SetName,
} from "../../provider-calls.ts";
import { sameValues } from "../../provider-set.ts";
import { type RRsetsHttp, rrsetsHttp } from "./rrsets-http.ts";

export type PollingTimes = { readonly first: number; readonly longest: number; readonly total: number };

export type RRsetsOptions = {
  /** Its name in messages. */
  readonly service?: string;
  /** It has `POST /zones/{zone}/changes`: only `moor records` does. */
  readonly together?: boolean;
  /** The comment of each record that is written. */
  readonly comment?: () => string;
  readonly now?: () => number;
  readonly waiting?: PollingTimes | undefined;
};

const usualWaiting: PollingTimes = { first: 500, longest: 5_000, total: 60_000 };

/** "type" in https://docs.hetzner.cloud/reference/cloud#zone-rrsets */
const hetznerTypes = "A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SOA SRV SVCB TLSA TXT".split(" ");

const rules: ProviderRules = {
  ttl: { lowest: lowestTtl, highest: highestTtl, zoneDefault: true },
  mostValues: mostRecords,
  mostSets: 1,
  needsBefore: false,
  writesInSteps: true,
  // https://docs.hetzner.cloud/reference/cloud#rate-limiting
  budget: { requests: 3_600, seconds: 3_600 },
};

/** The API of Hetzner and of `moor records` for whole sets. A write may continue after its answer, as an action. */
export type RRsetsCalls = ProviderCalls<undefined> & {
  readonly http: RRsetsHttp;
  /** Waits for the end of an action. */
  readonly settled: (written: WriteAnswer<ReadableAction>, signal: AbortSignal) => Promise<WriteAnswer<ReadableAction>>;
};

export function rrsetsCalls(account: ProviderAccount, client: HttpClient, options: RRsetsOptions = {}): RRsetsCalls {
  const { service = "the record service", together = false, comment = () => "", now = Date.now } = options;
  const http = rrsetsHttp(account, client, { service, now });
  const settled: RRsetsCalls["settled"] = (written, signal) =>
    settle(http, written, { now, waiting: options.waiting ?? usualWaiting }, signal);
  const tools: Tools = { service, http, settled, comment };
  return {
    service,
    http,
    settled,
    rules: together ? { ...rules, mostSets: mostChanges, budget: undefined } : { ...rules, types: hetznerTypes },
    async zones(signal) {
      const answer = await http.zones(signal);
      if (answer.kind === "absent") return unknownCall(answer, service);
      if (answer.kind !== "ok") return answer;
      const listed = answer.value.map(({ id, name, ttl }) => ({ id: String(id), name, ...(ttl && { ttl }) }));
      return { kind: "found", value: listed };
    },
    async sets(zone, signal) {
      const lookup = lookupOf(await http.sets(zone, signal), () => noZone(zone, service));
      return mapFound(lookup, (sets) =>
        sets.map((set) => ({ name: ownerIn(set, zone), type: set.type, ...currentSetOf(set) })),
      );
    },
    read: (set, signal) => readSet(tools, set, signal),
    async write(zone, changes, signal) {
      const [only, ...others] = changes;
      if (!only) return { kind: "accepted", value: [] };
      if (others.length === 0)
        return only.content ? putSet(tools, only, only.content, signal) : deleteSet(tools, only.set, signal);
      const wanted = changes.map(({ set: { name, type }, content }) =>
        content ? newSet({ name, type }, content, comment) : { name, type, delete: true as const },
      );
      return withoutSets(await settled(await http.change(zone, undefined, wanted, signal), signal));
    },
    close: () => client.close(),
  };
}

type Tools = Pick<RRsetsCalls, "service" | "http" | "settled"> & { readonly comment: () => string };

const lookupOf = <T, U = never>(
  answer: ServiceAnswer<T>,
  absent: (answer: Absent) => ServiceFault | U,
): Lookup<T> | U =>
  answer.kind === "ok" ? { kind: "found", value: answer.value } : answer.kind === "absent" ? absent(answer) : answer;

const isNoZone = ({ message }: Absent): boolean => /^zone not found/i.test(message);

async function readSet(
  { http, service }: Tools,
  set: SetName,
  signal: AbortSignal,
): Promise<Lookup<CurrentSet<undefined> | undefined>> {
  const answer = await http.set(set, signal);
  // The service answers 404 both for a missing set and for a zone that the token cannot see; only its text tells them
  // apart.
  if (answer.kind === "absent")
    return isNoZone(answer) ? noZone(set.zone, service) : { kind: "found", value: undefined };
  if (answer.kind !== "ok") return answer;
  const owner = parseOwner(answer.value.name, set.zone);
  const isIt = answer.value.type === set.type && owner.ok && owner.value === set.name;
  return isIt ? { kind: "found", value: currentSetOf(answer.value) } : unexpected("another record set", service);
}

const currentSetOf = ({ records, ttl = null }: ReadableRRset): CurrentSet<undefined> => ({
  values: records.map(({ value }) => value),
  ttl,
  raw: undefined,
});

const ownerIn = ({ name }: ReadableRRset, zone: string): string => {
  const owner = parseOwner(name, zone);
  return owner.ok ? owner.value : name;
};

const newSet = (
  { name, type }: Omit<SetName, "zone">,
  { values, ttl }: SetContent,
  comment: () => string,
): NewRRset => ({
  name,
  type,
  records: values.map((value) => ({ value, comment: comment() })),
  ttl,
});

/**
 * Two calls for an existing set, because `set_records` does not set the TTL; and a read after each, because some
 * services report success but change nothing.
 */
async function putSet(
  tools: Tools,
  change: ProviderSetChange<undefined>,
  content: SetContent,
  signal: AbortSignal,
): Promise<WriteAnswer<readonly (CurrentContent | undefined)[]>> {
  const { service, http, settled, comment } = tools;
  const { set } = change;
  const { records } = newSet(set, content, comment);
  const replace = async () => settled(await http.setRecords(set, { records }, signal), signal);
  let written = change.before === "missing" ? await createSet(tools, set, content, signal) : await replace();
  const isMissing = written.kind === "refused" && written.because.kind === "absent" && !isNoZone(written.because);
  if (isMissing && change.before === undefined && !change.onlyExisting)
    written = await createSet(tools, set, content, signal);
  if (written.kind === "refused") {
    const { because } = written;
    return because.kind === "absent" && isNoZone(because)
      ? { kind: "refused", because: noZone(set.zone, service) }
      : written;
  }
  if (written.kind === "unknown" && !written.probablyDone) return written;
  const current = await readSet(tools, set, signal);
  // The reason why the write was not a plain success says more than the content of the set.
  if (current.kind !== "found") return unknown(written.kind === "unknown" ? written.fault : afterWrite(current));
  if (!current.value || !sameValues(set, content.values, current.value.values))
    return written.kind === "unknown" ? unknown(written.fault) : { kind: "accepted", value: [current.value] };
  const { ttl = current.value.ttl } = content;
  return ttl === current.value.ttl ? { kind: "accepted", value: [current.value] } : changeTtl(tools, set, ttl, signal);
}

async function createSet(
  { service, http, settled, comment }: Tools,
  set: SetName,
  content: SetContent,
  signal: AbortSignal,
): Promise<WriteAnswer<ReadableAction>> {
  const made = await settled(await http.create(set.zone, newSet(set, content, comment), signal), signal);
  if (made.kind !== "refused") return made;
  const { because } = made;
  if (because.kind === "absent") return { kind: "refused", because: noZone(set.zone, service) };
  // Another client created it in the meantime: the next try replaces it.
  const isThere = because.kind === "refused" && because.code === "uniqueness_error";
  return isThere ? { kind: "refused", because: later("another client created the record set") } : made;
}

async function changeTtl(
  tools: Tools,
  set: SetName,
  ttl: number | null,
  signal: AbortSignal,
): Promise<WriteAnswer<readonly (CurrentContent | undefined)[]>> {
  const { settled, http } = tools;
  const changed = await settled(await http.changeTtl(set, ttl, signal), signal);
  if (changed.kind === "refused") {
    const { because } = changed;
    return unknown(withoutTtl(set, because.kind === "absent" ? later("it was removed at the same time") : because));
  }
  if (changed.kind === "unknown" && !changed.probablyDone) return unknown(withoutTtl(set, changed.fault));
  // The service may have stored another TTL.
  const current = await readSet(tools, set, signal);
  if (current.kind !== "found") return unknown(afterWrite(current));
  if (changed.kind === "unknown" && current.value?.ttl !== ttl) return unknown(withoutTtl(set, changed.fault));
  return { kind: "accepted", value: [current.value] };
}

async function deleteSet(
  { service, http, settled }: Tools,
  set: SetName,
  signal: AbortSignal,
): Promise<WriteAnswer<readonly (CurrentContent | undefined)[]>> {
  const removed = await settled(await http.remove(set, signal), signal);
  if (removed.kind === "accepted") return { kind: "accepted", value: [] };
  if (removed.kind === "unknown" || removed.because.kind !== "absent") return removed;
  return isNoZone(removed.because)
    ? { kind: "refused", because: noZone(set.zone, service) }
    : { kind: "accepted", value: [] };
}

/**
 * Waits until the action has ended. Asks immediately, then after half a second, rising to five, for a minute in total.
 */
async function settle(
  http: RRsetsHttp,
  asked: WriteAnswer<ReadableAction>,
  { now, waiting }: { readonly now: () => number; readonly waiting: PollingTimes },
  signal: AbortSignal,
): Promise<WriteAnswer<ReadableAction>> {
  if (asked.kind !== "accepted") return asked;
  const { id } = asked.value;
  const end = now() + waiting.total;
  let delay = waiting.first;
  let action = asked.value;
  for (let tries = 0; action.status === "running"; tries++) {
    if (tries > 0) {
      if (signal.aborted || now() + delay > end) return unknown(endless(waiting));
      await pause(delay, undefined, { signal }).catch(() => undefined);
      delay = Math.min(waiting.longest, delay * 1.5);
    }
    const answer = await http.action(id, signal);
    if (answer.kind === "absent")
      return unknown(later("the record service no longer knows the action that it started"));
    if (answer.kind !== "ok") return unknown(afterWrite(answer));
    if (answer.value.id !== id) return unknown(unexpected("another action"));
    action = answer.value;
  }
  if (action.status === "success") return { kind: "accepted", value: action };
  const { message = "", code = "" } = action.error ?? {};
  return unknown(later(`the record service started the write, but it failed: ${printable(`${code} ${message}`)}`));
}

const endless = ({ total }: PollingTimes) =>
  later(
    `the record service started the write, but did not finish it within ${total / 1000} s`,
    "no action needed: moor retries",
  );

const afterWrite = (fault: ServiceFault): ServiceFault => ({ ...fault, afterWrite: true });

const withoutTtl = ({ type }: SetName, fault: ServiceFault): ServiceFault => ({
  ...afterWrite(fault),
  because: `the ${["A", "AAAA"].includes(type) ? "address" : "set"} was written, but not its TTL: ${fault.because}`,
  ...(fault.kind === "refused"
    ? { todo: "set another `ttl:` in the config, or remove it to keep the record's TTL" }
    : {}),
});
