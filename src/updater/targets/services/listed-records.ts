import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import type { Mapping } from "../../../lib/settings/mapping.ts";
import type { SettingType } from "../../../lib/settings/setting.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import type { SetName } from "../../../providers/provider-calls.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { createSetTarget, type SetCalls } from "../set-target.ts";
import type { TargetKind } from "../target.ts";

/** One value of a set, as a service with a separate record for each value lists it. */
export type OneRecord<Raw> = {
  /** Relative to the zone; `@` for the zone itself. */
  readonly name: string;
  readonly type: string;
  readonly value: string;
  /** Null if the record uses the zone's TTL. */
  readonly ttl: number | null;
  readonly raw: Raw;
};

/** The calls of a service with a separate record for each value. */
export type RecordCalls<Raw> = Omit<SetCalls<Raw>, "read" | "records"> & {
  /** The records of the given set, perhaps among others; those of the whole zone if no set is given. */
  readonly recordsIn: (
    zone: string,
    set: SetName | undefined,
    signal: AbortSignal,
  ) => Promise<Lookup<readonly OneRecord<Raw>[]>>;
};

/** The records of one name and type are a set; writing it needs the `raw` of the first. */
const setsOfRecords = <Raw>({ recordsIn, ...calls }: RecordCalls<Raw>): SetCalls<Raw> => ({
  ...calls,
  async read(set, signal) {
    const recordsLookup = await recordsIn(set.zone, set, signal);
    if (recordsLookup.kind !== "found") return recordsLookup;
    const records = recordsLookup.value.filter(({ name, type }) => name === set.name && type === set.type);
    const [first] = records;
    const value = first && { values: records.map((each) => each.value), ttl: first.ttl, raw: first.raw };
    return { kind: "found", value };
  },
  async records(zone, signal) {
    const recordsLookup = await recordsIn(zone, undefined, signal);
    if (recordsLookup.kind !== "found") return recordsLookup;
    const all = recordsLookup.value.map(({ name, type, value, ttl }) => ({
      name,
      type,
      value,
      ...(ttl !== null && { ttl }),
    }));
    return { kind: "found", value: all };
  },
});

/** The kind of a service with a separate record for each value. */
export const recordsKind = <Settings extends Mapping<Endpoint>, Raw>(
  settings: Settings,
  callsOf: (config: TargetConfig & SettingType<Settings>, client: HttpClient) => RecordCalls<Raw>,
  can = { create: true, ttl: true },
) =>
  ({
    ...settings,
    can,
    open: async (config, connect) => createSetTarget(setsOfRecords(callsOf(config, await connect(config)))),
  }) satisfies TargetKind<TargetConfig & SettingType<Settings>>;
