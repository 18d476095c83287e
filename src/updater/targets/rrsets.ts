import { setTimeout as pause } from "node:timers/promises";
import type { ReadableAction, ReadableRRset } from "../../contract/rrsets-client.ts";
import { parseAddress, recordTypeOf } from "../../core/addresses/address.ts";
import { absoluteName, parseOwner } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { createRRsetsCalls, type RRsetsCalls, type SetName } from "./rrsets-calls.ts";
import { replaceSetsTogether, type TogetherTools } from "./rrsets-together.ts";
import { type Absent, type Answer, later, noZone, unexpected, unknownCall } from "./service-answer.ts";
import { removeHeld } from "./set-target.ts";
import type {
  Held,
  ListedRecord,
  Lookup,
  RecordTarget,
  ReplaceOrder,
  TargetFault,
  TargetKind,
  WriteOutcome,
} from "./target.ts";
import { hostedSettings, type TokenTarget, tokenSettings } from "./token-target.ts";
import { unknown, type WriteAnswer } from "./write-answer.ts";

export type Waiting = { readonly first: number; readonly longest: number; readonly total: number };

type Tools = { readonly calls: RRsetsCalls; readonly now: () => number; readonly waiting: Waiting };

const usualWaiting: Waiting = { first: 500, longest: 5_000, total: 60_000 };

export const rrsets = {
  ...tokenSettings(
    "Target: rrsets",
    "`Authorization: Bearer` and `/v1/zones/…/rrsets`, the newer of the two APIs of `moor records`. For Hetzner, use `hetzner`.",
    "https://dns.example.org:8053",
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: TokenTarget, connect) => createRRsetsTarget(config, await connect(config)),
} satisfies TargetKind<TokenTarget>;

/** The same API at Hetzner, where most users have it: no URL is needed. */
export const hetzner = {
  ...rrsets,
  ...hostedSettings(
    "Target: hetzner",
    "Hetzner's DNS service: `rrsets` with its URL.",
    "https://api.hetzner.cloud",
    "An API token of the project that has the zone, with read and write permission.",
  ),
  async open(config: TokenTarget, connect) {
    const { replaceAll: _, ...target } = await rrsets.open(config, connect);
    return target;
  },
} satisfies TargetKind<TokenTarget>;

/** The newer record service: whole sets, and writes that continue after the answer. */
export function createRRsetsTarget(
  config: TokenTarget,
  client: HttpClient,
  now: () => number = Date.now,
  waiting: Waiting = usualWaiting,
): RecordTarget {
  const tools = { calls: createRRsetsCalls(config, client, now), now, waiting };
  const { calls } = tools;
  const together: TogetherTools = {
    calls,
    comment: () => commentAt(now()),
    settled: (asked, signal) => settled(tools, asked, signal),
  };
  return {
    replace: (order, signal) => replaceSet(tools, order, signal),
    replaceAll: (orders, signal) => replaceSetsTogether(together, orders, signal),
    remove: (order, signal) =>
      removeHeld(order, current(calls, order, signal), async () =>
        settled(tools, await calls.remove(setOf(order), signal), signal),
      ),
    current: (order, signal) => current(calls, order, signal),
    async zones(signal) {
      const answer = await calls.zones(signal);
      if (answer.kind === "absent") return unknownCall(answer);
      if (answer.kind !== "ok") return answer;
      const listed = answer.value.map(({ id, name, ttl }) => ({ id: String(id), name, ...(ttl ? { ttl } : {}) }));
      return { kind: "found", value: listed };
    },
    async records(zone, signal) {
      const answer = await calls.sets(zone, signal);
      if (answer.kind === "ok") return { kind: "found", value: answer.value.flatMap((set) => listedIn(zone, set)) };
      return answer.kind === "absent" ? noZone(zone) : answer;
    },
    record: (id, signal) => findById(calls, id, signal),
    close: () => client.close(),
  };
}

async function current(
  calls: RRsetsCalls,
  order: Omit<ReplaceOrder, "value">,
  signal: AbortSignal,
): Promise<Lookup<Held>> {
  const answer = await calls.set(setOf(order), signal);
  if (answer.kind !== "ok") return faultOf(order, answer);
  if (!isSet(answer.value, setOf(order))) return unexpected("another record set");
  const { records, ttl = null } = answer.value;
  return { kind: "found", value: { values: records.map(({ value }) => value), ttl } };
}

async function replaceSet(tools: Tools, order: ReplaceOrder, signal: AbortSignal): Promise<WriteOutcome> {
  const set = setOf(order);
  const records = [{ value: order.value, comment: commentAt(tools.now()) }];
  let written = await settled(tools, await tools.calls.setRecords(set, { records }, signal), signal);
  if (written.kind === "refused" && written.because.kind === "absent") {
    if (!order.create) return { kind: "refused", fault: noSet(order, written.because) };
    written = await makeSet(tools, order, { ...set, records }, signal);
  }
  if (written.kind === "refused") return { kind: "refused", fault: faultOf(order, written.because) };
  if (written.kind === "unknown" && !written.probablyDone) return { kind: "unknown", fault: written.fault };
  const held = await readBack(tools.calls, order, signal);
  if (held.kind === "ok") return withTtl(tools, order, held.value, signal);
  // The reason why the write was not a plain success says more than the content of the record.
  return { kind: "unknown", fault: written.kind === "unknown" ? written.fault : held };
}

/** Reads the set, because some services report success but change nothing. */
async function readBack(
  calls: RRsetsCalls,
  order: ReplaceOrder,
  signal: AbortSignal,
): Promise<Exclude<Answer<ReadableRRset>, Absent>> {
  const answer = await calls.set(setOf(order), signal);
  if (answer.kind !== "ok") return afterWrite(faultOf(order, answer));
  const { records } = answer.value;
  if (!isSet(answer.value, setOf(order))) return afterWrite(unexpected("another record set"));
  if (records.length === 1 && parseAddress(records[0]?.value ?? "")?.text === order.value) return answer;
  return later(
    "the record service reported success, but its record set does not hold the new address",
    `check it with \`moor show ${idOf(setOf(order))}\``,
  );
}

/** A separate call, because `set_records` does not set the TTL. */
async function withTtl(
  tools: Tools,
  order: ReplaceOrder,
  { ttl = null }: ReadableRRset,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const set = setOf(order);
  if (order.ttl === undefined || order.ttl === ttl) return { kind: "done", recordId: idOf(set), ttl };
  const changed = await settled(tools, await tools.calls.changeTtl(set, order.ttl, signal), signal);
  if (changed.kind === "refused") return { kind: "unknown", fault: withoutTtl(faultOf(order, changed.because)) };
  if (changed.kind === "unknown" && !changed.probablyDone) {
    return { kind: "unknown", fault: withoutTtl(changed.fault) };
  }
  // The service may have stored another TTL.
  const held = await readBack(tools.calls, order, signal);
  if (held.kind !== "ok") return { kind: "unknown", fault: held };
  const { ttl: now = null } = held.value;
  if (changed.kind === "unknown" && now !== order.ttl) return { kind: "unknown", fault: withoutTtl(changed.fault) };
  return { kind: "done", recordId: idOf(set), ttl: now };
}

const faultOf = (order: Omit<ReplaceOrder, "value">, because: TargetFault | Absent): TargetFault =>
  because.kind === "absent" ? noSet(order, because) : because;

const afterWrite = (fault: TargetFault): TargetFault => ({ ...fault, afterWrite: true });

const withoutTtl = (fault: TargetFault): TargetFault => ({
  ...afterWrite(fault),
  because: `the address was written, but not its TTL: ${fault.because}`,
  ...(fault.kind === "refused"
    ? { todo: "set another `ttl:` in the config, or remove it to keep the record's TTL" }
    : {}),
});

async function makeSet(
  tools: Tools,
  order: ReplaceOrder,
  set: SetName & { readonly records: readonly { readonly value: string; readonly comment: string }[] },
  signal: AbortSignal,
): Promise<WriteAnswer<ReadableAction>> {
  const { name, type, records } = set;
  const ttl = order.ttl === undefined ? {} : { ttl: order.ttl };
  const asked = await tools.calls.create(set.zone, { name, type, ...ttl, records }, signal);
  const made = await settled(tools, asked, signal);
  if (made.kind !== "refused") return made;
  const { because } = made;
  if (because.kind === "absent") return { kind: "refused", because: noZone(order.zone) };
  // Another client created it in the meantime: the next try replaces it.
  const isThere = because.kind === "refused" && because.code === "uniqueness_error";
  return isThere ? { kind: "refused", because: later("another client created the record set") } : made;
}

/** Waits until the action has ended. Asks immediately, then after half a second, rising to five, for a minute in total. */
async function settled(
  { calls, now, waiting }: Tools,
  asked: WriteAnswer<ReadableAction>,
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
    const answer = await calls.action(id, signal);
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

const endless = ({ total }: Waiting) =>
  later(
    `the record service started the write, but did not finish it within ${total / 1000} s`,
    "no action needed: moor retries",
  );

async function findById(calls: RRsetsCalls, id: string, signal: AbortSignal): Promise<Lookup<ListedRecord>> {
  const [, zone, name, type] = /^([^/]+)\/([^/]+)\/([A-Za-z]+)$/.exec(id) ?? [];
  if (zone === undefined || name === undefined || type === undefined) return noSetWithId(id);
  const answer = await calls.set({ zone, name, type: type.toUpperCase() }, signal);
  if (answer.kind === "absent") return noSetWithId(id);
  if (answer.kind !== "ok") return answer;
  const [first, ...others] = listedIn(zone, answer.value);
  if (!first) return noSetWithId(id);
  return { kind: "found", value: { ...first, value: [first, ...others].map(({ value }) => value).join(" ") } };
}

function listedIn(zone: string, { name, type, ttl, records }: ReadableRRset): readonly ListedRecord[] {
  const id = idOf({ zone, name, type });
  return records.map(({ value }) => ({ id, zoneId: zone, name, type, value, ...(ttl ? { ttl } : {}) }));
}

const setOf = ({ zone, name, family }: ReplaceOrder | Omit<ReplaceOrder, "value">): SetName => ({
  zone,
  name,
  type: recordTypeOf(family),
});

const isSet = (set: ReadableRRset, { zone, name, type }: SetName): boolean => {
  const owner = parseOwner(set.name, zone);
  return set.type === type && owner.ok && owner.value === name;
};

const idOf = ({ zone, name, type }: SetName) => `${zone}/${name}/${type}`;

/** `YYYY-MM-DD HH:MM:SS (UTC)`. */
const commentAt = (now: number) => `${new Date(now).toISOString().slice(0, 19).replace("T", " ")} (UTC)`;

/** The service answers 404 both for a missing set and for a zone that the token cannot see; only its text tells them apart. */
function noSet({ zone, name, family, create }: Omit<ReplaceOrder, "value">, { said }: Absent): TargetFault {
  if (/^zone not found/i.test(said)) return noZone(zone);
  const because = `there is no record ${absoluteName(name, zone)} ${recordTypeOf(family)}`;
  const todo = create
    ? "`moor update` creates it when it next writes an address (create: true); with `verify: 1h`, it also notices that someone deleted the record"
    : `create it in the console, with any address, or set \`create: true\`; \`moor list ${zone}\` lists the existing ones`;
  return { kind: "missing", because, todo };
}

const noSetWithId = (id: string): TargetFault => ({
  kind: "missing",
  because: `there is no record with the id ${id}`,
  todo: "write zone/name/TYPE, such as example.org/home/A; `moor list ZONE` lists the existing records",
});
