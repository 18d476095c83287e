/**
 * Metrics for Prometheus: plain numbers while the program runs, text on request. What is counted often is counted in fields and
 * arrays; names and labels are built only on request.
 */

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** One metric in the text format of Prometheus, version 0.0.4. */
export function family(name: string, type: "counter" | "gauge", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${printLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Durations in seconds: how many were between each bound and the one before it, how many above all, and their sum. */
export type Histogram = { readonly bounds: readonly number[]; readonly counts: Float64Array; sum: number };

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
});

/** Most values are within the first bounds, so a linear search is faster than a binary one. */
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
  let total = 0;
  const buckets = [...histogram.bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    total += histogram.counts[i] ?? 0;
    const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound);
    return `${name}_bucket${printLabels({ ...labels, le })} ${total}\n`;
  });
  const of = printLabels(labels);
  return `${buckets.join("")}${name}_sum${of} ${histogram.sum}\n${name}_count${of} ${total}\n`;
}

function printLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (value: string): string => value.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
