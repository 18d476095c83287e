import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { family } from "./metrics.ts";

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
