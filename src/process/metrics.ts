/**
 * Counting for Prometheus: plain numbers while the program runs, text when they are requested. What is counted often is counted into
 * fields and arrays; names and labels are put together at the asking only.
 */

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** One metric in the text format of Prometheus, version 0.0.4. */
export function family(name: string, type: "counter" | "gauge", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${printLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** How long things took, in seconds: how many within each bound, and all of it together. */
export type Histogram = { readonly bounds: readonly number[]; readonly counts: Float64Array; sum: number };

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
});

/** The first bounds are met most: looking from the front is quicker than halving. */
export function observe(histogram: Histogram, seconds: number): void {
  const { bounds, counts } = histogram;
  let at = 0;
  while (at < bounds.length && seconds > (bounds[at] as number)) at += 1;
  counts[at] = (counts[at] as number) + 1;
  histogram.sum += seconds;
}

type Labelled = readonly [labels: Readonly<Record<string, string>>, histogram: Histogram];

export function histogramFamily(name: string, help: string, samples: readonly Labelled[]): string {
  const lines = samples.map(([labels, histogram]) => printHistogram(name, labels, histogram));
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join("")}`;
}

function printHistogram(name: string, labels: Readonly<Record<string, string>>, histogram: Histogram): string {
  let so = 0;
  const buckets = [...histogram.bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    so += histogram.counts[i] ?? 0;
    const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound);
    return `${name}_bucket${printLabels({ ...labels, le })} ${so}\n`;
  });
  const of = printLabels(labels);
  return `${buckets.join("")}${name}_sum${of} ${histogram.sum}\n${name}_count${of} ${so}\n`;
}

function printLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (value: string): string => value.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
