import { type Rate, rateInWords } from "./traffic.ts";

const [width, height] = [120, 24];

/** The traffic of the last two minutes: a line for each direction, and the current rates in words. */
export function Sparkline({ device, rates }: { readonly device: string; readonly rates: readonly Rate[] }) {
  const last = rates.at(-1);
  const first = rates[0];
  if (last === undefined || first === undefined) return null;
  const most = Math.max(1_000, ...rates.flatMap(({ received, sent }) => [received, sent]));
  const span = Math.max(1, last.at - first.at);
  const line = (of: (rate: Rate) => number) =>
    rates
      .map((rate) => {
        const [x, y] = [((rate.at - first.at) / span) * width, height - 1 - (of(rate) / most) * (height - 2)];
        return `${x.toFixed(1)},${y.toFixed(1)}`;
      })
      .join(" ");
  const [received, sent] = [rateInWords(last.received), rateInWords(last.sent)];
  return (
    <span className="traffic" data-samples={rates.length}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Traffic of ${device}: receiving ${received}, sending ${sent}; at most ${rateInWords(most)} in the last two minutes`}
      >
        <polyline className="received" points={line((rate) => rate.received)} />
        <polyline className="sent" points={line((rate) => rate.sent)} />
      </svg>
      <span className="rate received">↓ {received}</span>
      <span className="rate sent">↑ {sent}</span>
    </span>
  );
}
