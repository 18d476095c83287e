import { parseAddress, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName, ownerOf, zoneNameOf } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import { type Absent, later } from "../../providers/answers/service-answer.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { WriteAnswer } from "../../providers/answers/write-answer.ts";
import type { LastStep } from "../../providers/last-step.ts";
import type { CurrentContent, CurrentSet, ListedZone, SetName } from "../../providers/provider-calls.ts";
import type {
  ListedRecord,
  RecordSpec,
  RecordTarget,
  RemoveOutcome,
  ReplaceRequest,
  TargetFault,
  WriteOutcome,
} from "./target.ts";

export type NewSetContent = {
  readonly value: string;
  readonly ttl: number | undefined;
  /**
   * The set was not read before, because the service says itself if it does not exist; then it may be created or not.
   */
  readonly unread?: { readonly create: boolean } | undefined;
};

/** One value of a set, of any type; with an id if the service has one for it. */
export type SetRecord = Omit<ListedRecord, "id" | "zoneId"> & Partial<Pick<ListedRecord, "id" | "zoneId">>;

/** With `recordId`, the config says which record of the set it means. */
export type RequestedSet = SetName & { readonly recordId?: string | undefined };

/** The calls that differ from service to service. No method throws because of an answer. */
export type SetCalls<Raw> = {
  /** Its name in messages. */
  readonly service: string;
  /** Undefined if the zone exists, but the set does not. */
  read(set: RequestedSet, signal: AbortSignal): Promise<Lookup<CurrentSet<Raw> | undefined>>;
  /**
   * Replaces the one value of the set, or creates it if `current` is undefined. Returns the stored set if the answer
   * has it.
   */
  write(
    set: SetName,
    content: NewSetContent,
    current: CurrentSet<Raw> | undefined,
    signal: AbortSignal,
  ): Promise<WriteAnswer<CurrentContent | undefined>>;
  /** Removes the set that was just read. Only for services that can. */
  readonly remove?: (set: SetName, current: CurrentSet<Raw>, signal: AbortSignal) => Promise<WriteAnswer<unknown>>;
  /**
   * What happens before a write. `compare`: the set is read, and left as it is if it is right. `read`: it is read, and
   * written in any case. `nothing`: the service replaces whatever the set holds. Default: `compare`.
   */
  readonly beforeWrite?: "compare" | "read" | "nothing";
  /** Only for services that serve a stored change after a further call, which applies or publishes it. */
  readonly lastStep?: LastStep | undefined;
  zones(signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>>;
  records(zone: string, signal: AbortSignal): Promise<Lookup<readonly SetRecord[]>>;
  /** Only for services with ids of records. */
  readonly record?: RecordTarget["record"];
  close(): void;
};

/**
 * A target for services that write whole sets. Reads a set before it writes it, so that nothing is created or removed
 * by accident: a missing set needs `create`, and one with several values is left alone. A write counts as done only if
 * the answer or a second read shows the new address.
 */
export function createSetTarget<Raw>(calls: SetCalls<Raw>): RecordTarget {
  const records: RecordTarget["records"] = async (zone, signal) => {
    const recordsLookup = await calls.records(zone, signal);
    if (recordsLookup.kind !== "found") return recordsLookup;
    const value = recordsLookup.value.map((each) => ({ id: idOf({ zone, ...each }), zoneId: zone, ...each }));
    return { kind: "found", value };
  };
  return {
    replace: (request, signal) => replaceSet(calls, request, signal),
    ...(calls.remove && { remove: createRemove(calls, calls.remove) }),
    ...(calls.lastStep && { isServedLater: true }),
    async current(spec, signal) {
      // What is stored says nothing about what is served until the last step of our own write is confirmed.
      const lastStepFault = calls.lastStep?.isOpen(spec.zone) && (await calls.lastStep.confirm(spec.zone, signal));
      if (lastStepFault) return lastStepFault;
      const setLookup = await calls.read(setOf(spec), signal);
      if (setLookup.kind !== "found") return setLookup;
      const { values = [], ttl = null } = setLookup.value ?? {};
      if (values.length === 0) return noRecord(spec);
      return { kind: "found", value: { values, ttl } };
    },
    zones: (signal) => calls.zones(signal),
    records,
    record: calls.record ?? ((id, signal) => findRecord(records, id, signal)),
    close: () => calls.close(),
  };
}

/** By the id `zone/name/TYPE`. */
async function findRecord(
  records: RecordTarget["records"],
  id: string,
  signal: AbortSignal,
): Promise<Lookup<ListedRecord>> {
  const [, zone, set, type = ""] = /^([^/]+)(\/[^/]+\/)([A-Za-z0-9]+)$/.exec(id) ?? [];
  if (zone === undefined) return noRecordWithId(id);
  const listed = await records(zone, signal);
  if (listed.kind !== "found") return listed;
  const wanted = zone + set + type.toUpperCase();
  const [first, ...others] = listed.value.filter((each) => each.id === wanted);
  if (!first) return noRecordWithId(id);
  return { kind: "found", value: { ...first, value: [first, ...others].map(({ value }) => value).join(" ") } };
}

const createRemove =
  <Raw>(calls: SetCalls<Raw>, remove: NonNullable<SetCalls<Raw>["remove"]>) =>
  (request: ReplaceRequest, signal: AbortSignal): Promise<RemoveOutcome> =>
    removeIfUnchanged(request, calls.read(setOf(request), signal), (current) =>
      writeThenLastStep(calls, request.zone, () => remove(setOf(request), current, signal), signal),
    );

/** A write, and the last step after it. */
export const writeThenLastStep = <T>(
  { lastStep }: Pick<SetCalls<never>, "lastStep">,
  zone: string,
  write: () => Promise<WriteAnswer<T>>,
  signal: AbortSignal,
): Promise<WriteAnswer<T>> => (lastStep ? lastStep.after(zone, write, signal) : write());

async function replaceSet<Raw>(
  calls: SetCalls<Raw>,
  request: ReplaceRequest,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const set = setOf(request);
  const isUnread = calls.beforeWrite === "nothing";
  const prepared = isUnread ? toWriteUnread : prepare(request, await calls.read(set, signal), calls);
  if (prepared.kind === "done") {
    // An earlier try may have ended before the last step.
    const fault = await calls.lastStep?.confirm(request.zone, signal);
    return fault ? { kind: "unknown", fault } : prepared;
  }
  if (prepared.kind !== "to-write") return prepared;
  const unread = isUnread ? { create: request.create === true } : undefined;
  const content = { value: request.value, ttl: request.ttl, unread };
  const written = await writeThenLastStep(
    calls,
    request.zone,
    () => calls.write(set, content, prepared.current, signal),
    signal,
  );
  if (written.kind === "refused") return refused(faultOf(request, written.because));
  if (written.kind === "unknown" && !written.probablyDone) return written;
  if (written.kind === "accepted" && written.value && hasAddress(written.value, request))
    return done(request, written.value);
  return confirmed(calls.service, request, written, await calls.read(set, signal));
}

const toWriteUnread = { kind: "to-write", current: undefined } as const;

/** Removes the record only if it holds exactly the ordered address. */
async function removeIfUnchanged<H extends CurrentContent>(
  request: ReplaceRequest,
  reading: Promise<Lookup<H | undefined>>,
  remove: (current: H) => Promise<WriteAnswer<unknown>>,
): Promise<RemoveOutcome> {
  const lookup = await reading;
  if (lookup.kind === "missing") return { kind: "left", values: [] };
  if (lookup.kind !== "found") return { kind: "refused", fault: lookup };
  if (!lookup.value || !hasAddress(lookup.value, request)) return { kind: "left", values: lookup.value?.values ?? [] };
  const removed = await remove(lookup.value);
  if (removed.kind === "accepted") return { kind: "removed" };
  if (removed.kind === "unknown") return { kind: "unknown", fault: removed.fault };
  return { kind: "refused", fault: faultOf(request, removed.because) };
}

/** The change to write, after the set was read. */
export function prepare<Raw>(
  request: ReplaceRequest,
  before: Lookup<CurrentSet<Raw> | undefined>,
  { replacesSeveral = false, beforeWrite }: { replacesSeveral?: boolean } & Pick<SetCalls<Raw>, "beforeWrite">,
): WriteOutcome | { readonly kind: "to-write"; readonly current: CurrentSet<Raw> | undefined } {
  if (before.kind !== "found") return refused(before);
  const current = before.value;
  const { length } = current?.values ?? [];
  if (length === 0 && !request.create) return refused(noRecord(request));
  if (current && length > 1 && !replacesSeveral) return refused(several(request, current.values));
  if (
    current &&
    beforeWrite !== "read" &&
    hasAddress(current, request) &&
    (request.ttl ?? current.ttl) === current.ttl
  ) {
    return { ...done(request, current), already: true };
  }
  return { kind: "to-write", current };
}

/** The outcome of a write that was accepted or probably carried out, after the set was read again. */
export function confirmed(
  service: string,
  request: ReplaceRequest,
  written: Exclude<WriteAnswer<unknown>, { kind: "refused" }>,
  after: Lookup<CurrentContent | undefined>,
): WriteOutcome {
  if (after.kind === "found" && after.value && hasAddress(after.value, request)) return done(request, after.value);
  if (written.kind === "unknown") return { kind: "unknown", fault: written.fault };
  return {
    kind: "unknown",
    fault: after.kind === "found" ? notTaken(service, idOf(setOf(request))) : afterWrite(after),
  };
}

const done = (request: ReplaceRequest, { ttl }: CurrentContent) => ({
  kind: "done" as const,
  recordId: idOf(setOf(request)),
  ttl,
});

export const setOf = ({ zone, name, family, recordId }: RecordSpec): RequestedSet => ({
  zone,
  name,
  type: recordTypeOf(family),
  recordId,
});

const idOf = ({ zone, name, type }: { zone: string; name: string; type: string }) => `${zone}/${name}/${type}`;

/** The name of a listed record, relative to its zone. */
export const listedName = (whole: string, zone: string): string => ownerOf(zoneNameOf(whole), zone) ?? printable(whole);

const hasAddress = ({ values: [first, ...others] }: CurrentContent, { value }: ReplaceRequest): boolean =>
  first !== undefined && others.length === 0 && parseAddress(first)?.text === value;

export const refused = (fault: TargetFault): WriteOutcome => ({ kind: "refused", fault });

const afterWrite = (fault: TargetFault): TargetFault => ({ ...fault, afterWrite: true });

export const faultOf = (request: ReplaceRequest, because: TargetFault | Absent): TargetFault =>
  because.kind === "absent" ? noRecord(request) : because;

export const notTaken = (service: string, id: string): TargetFault =>
  later(
    `${service} reported success, but its record does not hold the new address`,
    `check it with \`moor record show ${printable(id)}\``,
  );

function noRecord({ zone, name, family, create }: RecordSpec): TargetFault {
  return {
    kind: "missing",
    because: `there is no record ${absoluteName(name, zone)} ${recordTypeOf(family)}`,
    todo: create
      ? "`moor update` creates it when it next writes an address (create: true); with `verify: 1h`, it also notices that someone deleted the record"
      : "create it with any address, or set `create: true`",
  };
}

const several = ({ zone, name, family }: ReplaceRequest, values: readonly string[]): TargetFault => ({
  kind: "ambiguous",
  because: `${absoluteName(name, zone)} ${recordTypeOf(family)} holds ${values.length} addresses: ${firstFew(values.map(printable))}`,
  todo: "remove all but the one that moor should replace",
});

const idHint = "write zone/name/TYPE, such as example.org/home/A; `moor record list ZONE` lists the existing records";

export const noRecordWithId = (id: string, todo = idHint): TargetFault => ({
  kind: "missing",
  because: `there is no record with the id ${printable(id)}`,
  todo,
});
