import type { Load } from "./wrk.ts";

const rounds = 3;

/** Measures two things in turns, so that noise affects both. */
export async function inTurns<T>(one: () => Promise<T>, other: () => Promise<T>): Promise<readonly [T[], T[]]> {
  const [ones, others]: [T[], T[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ones.push(await one());
    others.push(await other());
  }
  return [ones, others];
}

export const donePerSecond = (load: Load, seconds: number): number => load.perSecond - load.failed / seconds;
export const ms = (time: number): string => `${time.toFixed(time < 10 ? 2 : 1)} ms`;
export const failedIn = (loads: readonly Load[]): string => String(loads.reduce((sum, load) => sum + load.failed, 0));
