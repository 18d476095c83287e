import type { HeldSet, ProviderCalls, SetName } from "../../providers/provider-calls.ts";
import { readSets } from "../../providers/read-sets.ts";
import type { NewSetContent, SetCalls } from "./set-target.ts";
import type { ZoneCalls } from "./zone-target.ts";

/** The calls of a provider, for sets of one address. */
export function setCallsOf<Rest>(
  calls: ProviderCalls<Rest>,
): SetCalls<Rest> & Required<Pick<SetCalls<Rest>, "remove">> {
  const { service, lastStep } = calls;
  return {
    service,
    lastStep,
    read: (set, signal) => calls.read(set, signal),
    async write(set, content, held, signal) {
      const { unread } = content;
      const change = changeOf(set, content, unread ? undefined : (held ?? "missing"));
      const written = await calls.write(set.zone, [{ ...change, onlyExisting: unread?.create === false }], signal);
      return written.kind === "accepted" ? { kind: "accepted", value: written.value[0] } : written;
    },
    remove: (set, held, signal) => calls.write(set.zone, [{ set, content: undefined, before: held }], signal),
    zones: (signal) => calls.zones(signal),
    async records(zone, signal) {
      const found = await calls.sets(zone, signal);
      if (found.kind !== "found") return found;
      const value = found.value.flatMap(({ name, type, values, ttl, disabled = [] }) =>
        [...values, ...disabled].map((value) => ({ name, type, value, ...(ttl === null ? {} : { ttl }) })),
      );
      return { kind: "found", value };
    },
    close: () => calls.close(),
  };
}

/** The same for a provider that writes many sets in one transaction. */
export function zoneCallsOf<Rest>(calls: ProviderCalls<Rest>): ZoneCalls<Rest> {
  return {
    ...setCallsOf(calls),
    room: {
      of: ({ set, content, held }) => calls.room?.of(changeOf(set, content, held)) ?? 1,
      most: calls.room?.most ?? calls.rules.mostSets,
    },
    readAll: (sets, signal) => readSets(calls, sets, signal),
    writeAll: (changes, signal) =>
      calls.write(
        changes[0]?.set.zone ?? "",
        changes.map(({ set, content, held }) => changeOf(set, content, held ?? "missing")),
        signal,
      ),
  };
}

const changeOf = <Rest>(
  set: SetName,
  { value, ttl }: NewSetContent,
  before: HeldSet<Rest> | "missing" | undefined,
) => ({
  set,
  content: { values: [value], ttl },
  before,
});
