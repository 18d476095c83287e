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
      one("process_cpu_user_seconds_total", "counter", "Time in this program's code.", user / 1e6),
      one("process_cpu_system_seconds_total", "counter", "Time in the kernel for this program.", system / 1e6),
      one("process_resident_memory_bytes", "gauge", "Memory that is really held.", memory.rss),
      one("process_start_time_seconds", "gauge", "When it was started.", performance.timeOrigin / 1_000),
      one("nodejs_heap_size_used_bytes", "gauge", "Objects of the program.", memory.heapUsed),
      one("nodejs_heap_size_total_bytes", "gauge", "Room for objects.", memory.heapTotal),
      one("nodejs_external_memory_bytes", "gauge", "Memory behind objects: buffers and such.", memory.external),
      one("nodejs_eventloop_lag_p50_seconds", "gauge", "How late half of the timers were at most.", lag[0]),
      one("nodejs_eventloop_lag_p99_seconds", "gauge", "How late 99 of 100 timers were at most.", lag[1]),
      one("nodejs_eventloop_lag_max_seconds", "gauge", "How late the latest timer was.", lag[2]),
      one(
        "nodejs_eventloop_utilization",
        "gauge",
        "The part of the time in which it had something to do.",
        utilization,
      ),
      family("moor_build_info", "gauge", "What runs.", [[{ version, node: process.version }, 1]]),
    ].join("");
  };
  return { print, close: () => void delay.disable() };
}

const one = (name: string, type: "counter" | "gauge", help: string, value = 0): string =>
  family(name, type, help, [[{}, value]]);
