import type { CurrentSet, ProviderCalls, SetName } from "../../providers/provider-calls.ts";
import { readSets } from "../../providers/read-sets.ts";
import type { NewSetContent, SetCalls } from "./set-target.ts";
import type { ZoneCalls } from "./zone-target.ts";

/** The calls of a provider, for sets of one address. */
export function setCallsOf<Raw>(calls: ProviderCalls<Raw>): SetCalls<Raw> & Required<Pick<SetCalls<Raw>, "remove">> {
  const { service, lastStep } = calls;
  return {
    service,
    lastStep,
    read: (set, signal) => calls.read(set, signal),
    async write(set, content, current, signal) {
      const { unread } = content;
      const change = changeOf(set, content, unread ? undefined : (current ?? "missing"));
      const written = await calls.write(set.zone, [{ ...change, onlyExisting: unread?.create === false }], signal);
      return written.kind === "accepted" ? { kind: "accepted", value: written.value[0] } : written;
    },
    remove: (set, current, signal) => calls.write(set.zone, [{ set, content: undefined, before: current }], signal),
    zones: (signal) => calls.zones(signal),
    async records(zone, signal) {
      const setsLookup = await calls.sets(zone, signal);
      if (setsLookup.kind !== "found") return setsLookup;
      const value = setsLookup.value.flatMap(({ name, type, values, ttl, disabled = [] }) =>
        [...values, ...disabled].map((value) => ({ name, type, value, ...(ttl !== null && { ttl }) })),
      );
      return { kind: "found", value };
    },
    close: () => calls.close(),
  };
}

/** The calls of a provider that writes many sets in one transaction. */
export function zoneCallsOf<Raw>(calls: ProviderCalls<Raw>): ZoneCalls<Raw> {
  return {
    ...setCallsOf(calls),
    batch: {
      sizeOf: ({ set, content, current }) => calls.batch?.sizeOf(changeOf(set, content, current)) ?? 1,
      most: calls.batch?.most ?? calls.rules.mostSets,
    },
    readAll: (sets, signal) => readSets(calls, sets, signal),
    writeAll: (changes, signal) =>
      calls.write(
        changes[0]?.set.zone ?? "",
        changes.map(({ set, content, current }) => changeOf(set, content, current ?? "missing")),
        signal,
      ),
  };
}

const changeOf = <Raw>(
  set: SetName,
  { value, ttl }: NewSetContent,
  before: CurrentSet<Raw> | "missing" | undefined,
) => ({
  set,
  content: { values: [value], ttl },
  before,
});
