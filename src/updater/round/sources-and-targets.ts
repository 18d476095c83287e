import { families } from "../../core/addresses/address.ts";
import type { Instant } from "../../core/instant.ts";
import type { ServiceWait } from "../../core/updates/plan-update.ts";
import { utcSecond } from "../../core/utc-text.ts";
import { BackOffs } from "../../lib/limits/failure-delay.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { SourceReader } from "../sources/source-reader.ts";
import { openSource } from "../sources/sources.ts";
import type { RecordTarget, TargetFault } from "../targets/target.ts";
import { openTarget } from "../targets/targets.ts";
import { isFrom, type ManagedRecord, sourcesOf } from "./managed-records.ts";
import { Schedule, serviceOfTarget } from "./schedule.ts";
import type { StateFile } from "./state-file.ts";

/** All sources and targets of one config. */
export type SourcesAndTargets = {
  readonly readers: ReadonlyMap<string, SourceReader>;
  readonly sourceBackOffs: BackOffs;
  readonly schedule: Schedule;
  readonly targetOf: (record: ManagedRecord) => RecordTarget;
  readonly serviceOf: (record: ManagedRecord) => string;
  /** What a record holds, unless its service sent a Retry-After. */
  readonly readRecord: (record: ManagedRecord, signal: AbortSignal) => ReturnType<RecordTarget["current"]>;
  readonly close: () => void;
};

export type ServiceTools = {
  readonly state: StateFile;
  readonly now: () => Instant;
  readonly random: () => number;
};

export async function openSourcesAndTargets(
  config: UpdaterConfig,
  records: readonly ManagedRecord[],
  { state, now, random }: ServiceTools,
): Promise<SourcesAndTargets> {
  const schedule = new Schedule(config, { state, now, random });
  // After an outage of any length, a firewall is read within the interval.
  const sourceBackOffs = new BackOffs(random, config.interval);
  const readers = new Map<string, SourceReader>();
  const familiesOf = (source: string) =>
    families.filter((family) => records.some((record) => isFrom(record, source) && record.family === family));
  const targets = new Map<string, RecordTarget>();
  for (const source of new Set(records.flatMap(sourcesOf).map((from) => from.source))) {
    const sourceConfig = config.sources.get(source);
    if (!sourceConfig) continue;
    const tools = { backOffs: sourceBackOffs, now, random };
    const opened = await openSource(sourceConfig, familiesOf(source), config.interval);
    readers.set(source, new SourceReader(source, opened, tools));
  }
  for (const { target } of records) {
    const targetConfig = config.targets.get(target);
    if (!targetConfig || targets.has(target)) continue;
    targets.set(target, await openTarget(targetConfig, (headers) => schedule.answered(target, headers)));
  }
  const targetOf = ({ target }: ManagedRecord): RecordTarget => {
    const opened = targets.get(target);
    if (!opened) throw new Error(`no target ${target}`);
    return opened;
  };
  return {
    readers,
    sourceBackOffs,
    schedule,
    targetOf,
    serviceOf: ({ target }) => serviceOfTarget(config.targets, target),
    async readRecord(record, signal) {
      const wait = schedule.waitForReading(record.target);
      if (wait !== undefined && now() < wait.until) return waitFault(wait);
      return targetOf(record).current(record.spec, signal);
    },
    close() {
      for (const opened of [...targets.values(), ...readers.values()]) opened.close();
    },
  };
}

const waitFault = ({ until, because }: ServiceWait): TargetFault => ({
  kind: "later",
  because: `moor leaves the record service alone until ${utcSecond(until)} (${because === "quota" ? "quota" : "Retry-After"})`,
  todo: "no action needed: moor waits until then",
});
