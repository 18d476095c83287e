import { monitorEventLoopDelay, performance } from "node:perf_hooks";

/**
 * Metrics for Prometheus: plain numbers while the program runs, text on request. What is counted often is counted in
 * fields and arrays; names and labels are built only on request.
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

/** The usual metrics of a Node process, under the names that dashboards know. */
export type ProcessMetrics = { readonly print: () => string; readonly close: () => void };

/** Milliseconds between two samples of the event loop's delay. */
const resolution = 20;

/** The event loop's delay and utilization are those since the last `print`. */
export function openProcessMetrics(version: string): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let busy = performance.eventLoopUtilization();

  const print = (): string => {
    const { user, system } = process.cpuUsage();
    const memory = process.memoryUsage();
    const utilization = performance.eventLoopUtilization(busy).utilization;
    busy = performance.eventLoopUtilization();
    const lag = [delay.percentile(50), delay.percentile(99), delay.max].map((each) =>
      Math.max(0, each / 1e9 - resolution / 1e3),
    );
    delay.reset();
    return [
      one("process_cpu_user_seconds_total", "counter", "Total user CPU time.", user / 1e6),
      one("process_cpu_system_seconds_total", "counter", "Total system CPU time.", system / 1e6),
      one("process_resident_memory_bytes", "gauge", "Resident memory.", memory.rss),
      one("process_start_time_seconds", "gauge", "When the process started.", performance.timeOrigin / 1_000),
      one("nodejs_heap_size_used_bytes", "gauge", "Used heap.", memory.heapUsed),
      one("nodejs_heap_size_total_bytes", "gauge", "Allocated heap.", memory.heapTotal),
      one("nodejs_external_memory_bytes", "gauge", "Memory outside the heap, such as buffers.", memory.external),
      one("nodejs_eventloop_lag_p50_seconds", "gauge", "Median delay of the event loop.", lag[0]),
      one("nodejs_eventloop_lag_p99_seconds", "gauge", "99th percentile of the event loop's delay.", lag[1]),
      one("nodejs_eventloop_lag_max_seconds", "gauge", "Longest delay of the event loop.", lag[2]),
      one(
        "nodejs_eventloop_utilization",
        "gauge",
        "Fraction of the time in which the event loop was busy.",
        utilization,
      ),
      family("moor_build_info", "gauge", "The versions of moor and Node.", [[{ version, node: process.version }, 1]]),
    ].join("");
  };
  return { print, close: () => void delay.disable() };
}

const one = (name: string, type: "counter" | "gauge", help: string, value = 0): string =>
  family(name, type, help, [[{}, value]]);
