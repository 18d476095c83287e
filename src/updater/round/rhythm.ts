import type { SourceConfig } from "../sources/source.ts";
import { calledOf, sourceKinds } from "../sources/sources.ts";

/** Milliseconds. The round after such a pause sends no request; it only notices a clock change or a sleep of the machine. */
export const longestPause = 600_000;

/** Milliseconds without a round after which a watcher counts as stuck. */
export const longestSilence = 2 * longestPause;

type Rhythm = { readonly interval: number; readonly sources: ReadonlyMap<string, SourceConfig> };

/** How soon a change is noticed, in plain words. */
export function describeRhythm({ interval, sources }: Rhythm): string {
  const every = `every ${interval / 1_000} s`;
  const pushing = [...sources.values()].filter(({ kind }) => sourceKinds[kind]?.can.push);
  if (sources.size > 0 && pushing.length === 0) return `checks ${every}`;
  const called = pushing.every((source) => calledOf(source) === "firewall") ? "firewall" : "source";
  return `checks immediately when the ${called} pushes a change, otherwise ${every}`;
}
