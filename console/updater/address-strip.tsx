import { drawnUntil, type Span } from "../shared/time/spans.ts";
import { useNow } from "../shared/time/when.tsx";
import { dayAndTime, durationInWords } from "../shared/time/words-of-time.ts";

const most = 8;

/**
 * The last addresses of a record as a bar: each part is as long as the address was in use, and the current one is the
 * darkest.
 */
export function AddressStrip({ name, spans }: { readonly name: string; readonly spans: readonly Span[] }) {
  const until = drawnUntil(spans, useNow(1_000));
  const shown = spans.slice(-most);
  const words = shown.map(
    ({ address, from, until: end }) =>
      `${address} ${end === undefined ? `for ${durationInWords(until - from)}` : `from ${dayAndTime(from)}`}`,
  );
  return (
    <div
      className="strip"
      role="img"
      aria-label={`Addresses of ${name} over time: ${words.join(", ")}`}
      data-until={new Date(until).toISOString()}
    >
      {shown.map(({ address, from, until: end }) => (
        <span
          key={from}
          style={{ flexGrow: Math.max(1, (end ?? until) - from) }}
          title={`${address}: ${dayAndTime(from)} – ${end === undefined ? "now" : dayAndTime(end)}`}
        />
      ))}
    </div>
  );
}
