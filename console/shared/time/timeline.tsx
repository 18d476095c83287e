import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { drawnUntil, latestSpans, type Span } from "./spans.ts";
import { useNow } from "./when.tsx";
import { toSecond } from "./words-of-time.ts";

const [laneHeight, frame, mostLanes] = [26, 62, 12];

/**
 * Which address a name had when: time runs to the right, each address has a lane, and a bar shows how long it was in
 * use. A name that gets a new address every night would need a lane per night, so only the latest are drawn.
 */
export function Timeline({ spans: all, label }: { readonly spans: readonly Span[]; readonly label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const spans = useMemo(() => latestSpans(all, mostLanes), [all]);
  const now = useNow(useMemo(() => tickFor(spans), [spans]));
  const until = drawnUntil(spans, now);
  const latest = useRef(until);
  latest.current = until;
  const drawn = useRef<uPlot>(undefined);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const data = dataOf(spans, latest.current);
    const plot = new uPlot(optionsFor(spans, latest.current, element.clientWidth, scheme === "dark"), data, element);
    drawn.current = plot;
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightOf(spans) }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
      drawn.current = undefined;
    };
  }, [spans, scheme]);
  useEffect(() => drawn.current?.setData(dataOf(spans, until)), [spans, until]);
  return (
    <>
      <div
        ref={box}
        role="img"
        aria-label={label}
        data-until={new Date(until).toISOString()}
        style={{ minHeight: heightOf(spans) }}
      />
      {spans.length < all.length && (
        <p className="quiet" style={{ margin: 0, fontSize: "0.8125rem" }}>
          Showing the latest {spans.length} of {all.length} addresses.
        </p>
      )}
    </>
  );
}

/**
 * Milliseconds between two redraws, so that the last bar grows by about a pixel: short after a recent change, long
 * after one of last week.
 */
const tickFor = (spans: readonly Span[]): number =>
  Math.min(60_000, Math.max(1_000, (Date.now() - (spans[0]?.from ?? 0)) / 500));

const lanesOf = (spans: readonly Span[]): readonly string[] => [...new Set(spans.map(({ address }) => address))];
const heightOf = (spans: readonly Span[]): number => frame + laneHeight * lanesOf(spans).length;

function dataOf(spans: readonly Span[], until: number): uPlot.AlignedData {
  const lanes = lanesOf(spans);
  const points = spans.map(({ address, from }) => [from / 1_000, lanes.indexOf(address)] as const);
  const last = points.at(-1)?.[1] ?? 0;
  return [
    [...points.map(([x]) => x), until / 1_000],
    [...points.map(([, y]) => y), last],
  ];
}

function optionsFor(spans: readonly Span[], until: number, width: number, dark: boolean): uPlot.Options {
  const lanes = lanesOf(spans);
  const [ink, grid, line] = dark ? ["#a8b0b6", "#31373c", "#55b1c6"] : ["#566068", "#e4e8ea", "#0a6e86"];
  const widest = Math.max(...lanes.map(({ length }) => length));
  const axis = {
    stroke: ink,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1 },
    font: "12px system-ui",
  };
  const first = spans[0]?.from ?? until;
  return {
    width,
    height: heightOf(spans),
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: {
      x: { time: true, range: (_plot, low, high) => (low === high ? [low - 60, high + 60] : [low, high]) },
      y: { range: [-0.6, lanes.length - 0.4] },
    },
    axes: [
      // Times with seconds are the widest; they must not touch.
      { ...axis, space: 70, values: (_plot, splits) => momentsInWords(splits) },
      {
        ...axis,
        size: Math.min(width * 0.45, 24 + widest * 7),
        splits: () => lanes.map((_, i) => i),
        values: (_plot, splits) => splits.map((i) => lanes[i] ?? ""),
        font: "12px ui-monospace, monospace",
      },
    ],
    series: [
      { value: (_plot, x) => toSecond((x ?? first / 1_000) * 1_000) },
      {
        stroke: line,
        width: 3,
        points: { show: true, size: 7, fill: line },
        ...(uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
      },
    ],
  };
}

const day = 86_400;

/** Days, or times if the axis is finer than that, with the day where a new one begins. */
function momentsInWords(splits: readonly number[]): string[] {
  const step = (splits[1] ?? 0) - (splits[0] ?? 0);
  const byDays = step >= day;
  const fine: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  if (step < 60) fine.second = "2-digit";
  return splits.map((at, i) => {
    const date = new Date(at * 1_000);
    const dayWords = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    if (byDays) return dayWords;
    const time = date.toLocaleTimeString("en-GB", fine);
    const before = splits[i - 1];
    const isNewDay = before === undefined || date.getDate() !== new Date(before * 1_000).getDate();
    return isNewDay ? `${time}\n${dayWords}` : time;
  });
}
