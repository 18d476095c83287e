import type { Span } from "./spans.ts";
import { dayAndTime, durationInWords } from "./words-of-time.ts";

const shown = 10;

/** The same as the timeline, to be read. The latest first. */
export function SpanTable({ spans, now }: { readonly spans: readonly Span[]; readonly now: number }) {
  return (
    <table className="list">
      <thead>
        <tr>
          <th scope="col">Address</th>
          <th scope="col">From</th>
          <th scope="col">Until</th>
          <th scope="col">Held for</th>
        </tr>
      </thead>
      <tbody>
        {spans
          .toReversed()
          .slice(0, shown)
          .map(({ address, from, until }) => (
            <tr key={from}>
              <td className="mono">{address}</td>
              <td data-label="From">{dayAndTime(from)}</td>
              <td data-label="Until">{until === undefined ? "now" : dayAndTime(until)}</td>
              <td data-label="Held for">{durationInWords((until ?? now) - from)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}
