import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import type { DynamicName } from "../../../src/contract/overview.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { useNow } from "../../shared/time/when.tsx";
import { dayAndTime } from "../../shared/time/words-of-time.ts";
import { monthOf, nearest, type Tick } from "./month.ts";

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

type Props = { readonly name: DynamicName; readonly since: string | null; readonly isBrief?: boolean };

/** The last 30 days of a name: a tick per change, IPv4 above the line and IPv6 below it. */
export function MonthLine({ name, since, isBrief = false }: Props) {
  const { ticks, knownFrom } = monthOf(name.moves, since, useNow(60_000));
  const [chosen, setChosen] = useState<number>();
  const tick = chosen === undefined ? undefined : ticks[chosen];
  const summary = ticks.length === 0 ? "no change in 30 days" : `30 days, ${counted(ticks.length, "change")}`;
  const label = `Changes of ${nameToUnicode(name.name)} in the last 30 days`;
  const words = tick ? inWords(tick) : summary;
  const drawn = (
    <>
      {knownFrom > 0 && <span className="unknown" style={{ width: `${knownFrom * 100}%` }} />}
      {ticks.map((each, i) => (
        <span
          key={`${each.at} ${each.type}`}
          className={`tick ${each.type}${i === chosen ? " chosen" : ""}`}
          style={{ left: `${each.place * 100}%` }}
        />
      ))}
    </>
  );
  return (
    <div className="month" title={isBrief && tick ? words : undefined}>
      {ticks.length === 0 ? (
        <div className="month-line" role="img" aria-label={`${label}: none`}>
          {drawn}
        </div>
      ) : (
        <Chooser {...{ ticks, chosen, label, words }} onChoose={setChosen}>
          {drawn}
        </Chooser>
      )}
      {!isBrief && <span className="month-words">{words}</span>}
    </div>
  );
}

/** The pointer or the arrow keys choose a change. */
function Chooser(props: {
  readonly ticks: readonly Tick[];
  readonly chosen: number | undefined;
  readonly label: string;
  readonly words: string;
  readonly onChoose: (tick: number | undefined) => void;
  readonly children: ReactNode;
}) {
  const { ticks, chosen, onChoose } = props;
  const last = ticks.length - 1;
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onChoose(nearest(ticks, (event.clientX - left) / width));
  };
  const step = (event: KeyboardEvent) => {
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onChoose(Math.min(last, Math.max(0, (chosen ?? last) + by)));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input of the type range has no ticks of its own
    <div
      className="month-line"
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={1}
      aria-valuemax={ticks.length}
      aria-valuenow={(chosen ?? last) + 1}
      aria-valuetext={props.words}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => onChoose(undefined)}
      onFocus={() => onChoose(last)}
      onBlur={() => onChoose(undefined)}
      onKeyDown={step}
    >
      {props.children}
    </div>
  );
}

const inWords = ({ address, type, at }: Tick): string =>
  `${address === "" ? `no ${type} address` : address} from ${dayAndTime(Date.parse(at))}`;
