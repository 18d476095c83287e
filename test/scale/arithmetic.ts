/**
 * From what one name costs to what a million cost: pure arithmetic, so that every figure in docs/operations.md can be
 * followed.
 */

/** What is assumed about people and resolvers, because it cannot be measured here. */
export type Assumed = {
  readonly names: number;
  /** A and AAAA, changed together. */
  readonly setsPerName: number;
  /** 1 with a provider that assigns a new address every night. */
  readonly changesPerDay: number;
  /** The part of a day's changes that falls into its busiest hour. */
  readonly busiestHour: number;
  /** Minutes in which everybody is back after an outage of their provider. */
  readonly returnMinutes: number;
  /** Questions per name and day that reach us, because resolvers do not have the answer cached. */
  readonly questionsPerDay: number;
  /** The ratio of the busiest second to the mean one. */
  readonly questionPeak: number;
  /** The part of the names that are asked for at all within a day. */
  readonly askedFor: number;
  readonly secondaries: number;
  readonly keepDays: number;
  /** How much of a core may be in use at the peak. */
  readonly utilization: number;
};

/** What was measured on this machine, on real rows and sockets. Seconds are processor time of the service. */
export type Measured = {
  readonly bytesPerZone: number;
  readonly bytesPerChange: number;
  readonly secondsPerWrite: number;
  readonly secondsPerRead: number;
  readonly secondsPerColdQuestion: number;
  readonly secondsPerQuestion: number;
  readonly secondsPerTransfer: number;
  readonly memoryAtStart: number;
  readonly memoryPerZone: number;
};

export type Needs = {
  readonly storeBytes: number;
  readonly writesPerDay: number;
  readonly writesPerSecond: { readonly mean: number; readonly busiestHour: number; readonly afterOutage: number };
  readonly logBytesPerDay: number;
  readonly logBytesKept: number;
  readonly questionsPerSecond: { readonly mean: number; readonly peak: number };
  readonly transfersPerSecond: { readonly busiestHour: number; readonly afterOutage: number };
  readonly cores: {
    readonly writes: number;
    readonly questions: number;
    readonly transfers: number;
    readonly all: number;
  };
  readonly coresAfterOutage: number;
  readonly memory: number;
  readonly nodes: number;
};

const day = 86_400;

export function needsOf(assumed: Assumed, measured: Measured): Needs {
  const { names, setsPerName, changesPerDay, utilization } = assumed;
  const changes = names * changesPerDay;
  const writesPerDay = changes * setsPerName;
  const writesPerSecond = {
    mean: writesPerDay / day,
    busiestHour: (writesPerDay * assumed.busiestHour) / 3_600,
    afterOutage: (names * setsPerName) / (assumed.returnMinutes * 60),
  };
  const questions = (names * assumed.questionsPerDay) / day;
  const questionsPerSecond = { mean: questions, peak: questions * assumed.questionPeak };
  // A secondary is notified of each change immediately; two writes within its pause are one transfer.
  const transfersOf = (writes: number) => (writes / setsPerName) * assumed.secondaries;
  const transfersPerSecond = {
    busiestHour: transfersOf(writesPerSecond.busiestHour),
    afterOutage: transfersOf(writesPerSecond.afterOutage),
  };
  const logBytesPerDay = writesPerDay * measured.bytesPerChange;
  const coresFor = (writes: number, transfers: number) => ({
    // An updater reads its record before it writes it.
    writes: writes * (measured.secondsPerWrite + measured.secondsPerRead),
    questions: questionsPerSecond.peak * measured.secondsPerQuestion,
    transfers: transfers * measured.secondsPerTransfer,
  });
  const parts = coresFor(writesPerSecond.busiestHour, transfersPerSecond.busiestHour);
  const all = parts.writes + parts.questions + parts.transfers;
  const outage = coresFor(writesPerSecond.afterOutage, transfersPerSecond.afterOutage);
  return {
    storeBytes: names * measured.bytesPerZone,
    writesPerDay,
    writesPerSecond,
    logBytesPerDay,
    logBytesKept: logBytesPerDay * assumed.keepDays,
    questionsPerSecond,
    transfersPerSecond,
    cores: { ...parts, all },
    coresAfterOutage: outage.writes + outage.questions + outage.transfers,
    memory: measured.memoryAtStart + names * assumed.askedFor * measured.memoryPerZone,
    // One more than needed, so that one can fail.
    nodes: Math.ceil(all / utilization) + 1,
  };
}

/**
 * The number of changes in each second of a day, drawn at random, with more in the busiest hour. `random` gives 0 to 1.
 */
export function drawDay(changes: number, busiestHour: number, random: () => number): Uint32Array {
  const perSecond = new Uint32Array(day);
  for (let i = 0; i < changes; i += 1) {
    // The busiest hour is four in the morning; all other changes are spread evenly.
    const at = random() < busiestHour ? 4 * 3_600 + random() * 3_600 : random() * day;
    const second = Math.floor(at);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  return perSecond;
}

/** The value that this part of all values does not exceed. */
export function percentileOf(values: Uint32Array, part: number): number {
  const sorted = values.toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
