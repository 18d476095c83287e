import type { Instant } from "../core/instant.ts";
import { applyRound, type UpdateResult } from "./apply-round.ts";
import type { UpdaterConfig } from "./config.ts";
import { createPacing } from "./pacing.ts";
import { holdKey, type PlannedUpdate, planRound } from "./plan-round.ts";
import type { AddressSource, SourceReading } from "./source.ts";
import { openSource } from "./sources.ts";
import type { StateFile } from "./state-file.ts";
import type { RecordTarget } from "./target.ts";
import { openTarget } from "./targets.ts";

/** Read, plan, apply; once or again and again. */
export type Updater = {
  /** Reads and plans; sends and stores nothing. */
  plan(signal: AbortSignal): Promise<readonly PlannedUpdate[]>;
  round(signal: AbortSignal): Promise<Round>;
  close(): void;
};

export type Round = {
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly results: readonly UpdateResult[];
  /** When something that failed or waits may be tried again; undefined when nothing does. */
  readonly due: Instant | undefined;
  /** Set when an address that was written earlier is still not on disk. */
  readonly unsaved?: string;
};

export type UpdaterTools = {
  readonly state: StateFile;
  readonly now: () => Instant;
  readonly random: () => number;
};

export async function openUpdater(config: UpdaterConfig, { state, now, random }: UpdaterTools): Promise<Updater> {
  const sources = new Map<string, AddressSource>();
  const targets = new Map<string, RecordTarget>();
  for (const { source, target } of config.names) {
    const sourceConfig = config.sources.get(source);
    if (sourceConfig && !sources.has(source)) sources.set(source, await openSource(sourceConfig));
    const targetConfig = config.targets.get(target);
    if (targetConfig && !targets.has(target)) targets.set(target, await openTarget(targetConfig));
  }
  const pacing = createPacing(random);
  const lastReadings = new Map<string, SourceReading>();

  const readAll = async (signal: AbortSignal): Promise<ReadonlyMap<string, SourceReading>> => {
    await Promise.all([...sources].map(([name, source]) => readOne(name, source, signal)));
    return new Map(lastReadings);
  };
  const readOne = async (name: string, source: AddressSource, signal: AbortSignal): Promise<void> => {
    const wait = pacing.notBefore(sourceKey(name), now());
    // Only a failure is ever remembered: an old report would be a guess.
    if (wait !== undefined && now() < wait) return;
    const reading = await source.read(signal);
    lastReadings.set(name, reading);
    if (reading.kind === "report") pacing.succeeded(sourceKey(name));
    else pacing.failed(sourceKey(name), now());
  };
  const plan = (readings: ReadonlyMap<string, SourceReading>) =>
    planRound(config, { readings, state, now: now(), notBefore: (key) => pacing.notBefore(key, now()) });
  const settle = ({ subject, outcome }: UpdateResult) => {
    if (outcome?.kind === "replaced") pacing.succeeded(subject.key);
    else if (outcome) pacing.failed(subject.key, now());
  };
  const dueOf = ({ subject, plan: { kind, ...rest } }: UpdateResult) =>
    "until" in rest ? rest.until : kind === "replace" ? pacing.notBefore(subject.key, now()) : undefined;

  return {
    plan: async (signal) => plan(await readAll(signal)),
    async round(signal) {
      const unsaved = await state.flush().then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      const readings = await readAll(signal);
      const tools = { targets, state, now, holdKey: (target: string) => holdKey(config, target) };
      const results = await applyRound(plan(readings), tools, signal);
      results.forEach(settle);
      const waits = [
        ...results.map(dueOf),
        ...[...sources.keys()].map((name) => pacing.notBefore(sourceKey(name), now())),
      ].filter((until) => until !== undefined);
      const due = waits.length === 0 ? undefined : Math.min(...waits);
      return { readings, results, due, ...(unsaved === undefined ? {} : { unsaved }) };
    },
    close() {
      for (const opened of [...targets.values(), ...sources.values()]) opened.close();
    },
  };
}

const sourceKey = (name: string) => `source ${name}`;
