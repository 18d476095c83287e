import { Button } from "@mantine/core";
import { useState } from "react";
import { ListTable } from "../list-table.tsx";
import type { Span } from "./spans.ts";
import { dayAndTime, durationInWords } from "./words-of-time.ts";

const few = 10;

/** The timeline as a table, the latest first. */
export function SpanTable({ spans, now }: { readonly spans: readonly Span[]; readonly now: number }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <ListTable heads={["Address", "From", "Until", "Held for"]}>
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
      </ListTable>
      {!all && spans.length > few && (
        <Button mt="xs" size="compact-sm" variant="default" onClick={() => setAll(true)}>
          Show all {spans.length}
        </Button>
      )}
    </>
  );
}
