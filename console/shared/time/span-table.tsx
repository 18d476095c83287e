import { Button } from "@mantine/core";
import { useState } from "react";
import type { Span } from "./spans.ts";
import { dayAndTime, durationInWords } from "./words-of-time.ts";

const few = 10;

/** The same as the timeline, to be read. The latest first. */
export function SpanTable({ spans, now }: { readonly spans: readonly Span[]; readonly now: number }) {
  const [all, setAll] = useState(false);
  return (
    <>
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
            .slice(0, all ? undefined : few)
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
      {!all && spans.length > few && (
        <Button mt="xs" size="compact-sm" variant="default" onClick={() => setAll(true)}>
          All {spans.length}
        </Button>
      )}
    </>
  );
}
