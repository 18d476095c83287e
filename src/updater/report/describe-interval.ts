import type { SourceConfig } from "../config/kinds.ts";
import { abilitiesOf, kindLabelOf } from "../sources/sources.ts";

type Intervals = { readonly interval: number; readonly sources: ReadonlyMap<string, SourceConfig> };

/**
 * How soon a change is noticed, in plain words. Sources with an interval of their own are named if there are others.
 */
export function describeInterval({ interval, sources }: Intervals): string {
  const all = [...sources.values()];
  const usual = all.filter(({ every }) => every === undefined);
  const parts = all.flatMap(({ name, every }) =>
    every === undefined ? [] : [`${all.length > 1 ? `${name} ` : ""}${everyOf(every)}`],
  );
  if (usual.length > 0 || all.length === 0) parts.unshift(usualInterval(interval, usual));
  return `checks ${parts.join("; ")}`;
}

function usualInterval(interval: number, sources: readonly SourceConfig[]): string {
  const pushing = sources.filter((source) => abilitiesOf(source)?.push);
  if (sources.length > 0 && pushing.length === 0) return everyOf(interval);
  const kindLabel = pushing.every((source) => kindLabelOf(source) === "firewall") ? "firewall" : "source";
  return `immediately when the ${kindLabel} pushes a change, otherwise ${everyOf(interval)}`;
}

const everyOf = (milliseconds: number) => `every ${milliseconds / 1_000} s`;
