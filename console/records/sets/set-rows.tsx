// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot show a window of its rows
// biome-ignore-all lint/a11y/useFocusableInteractive: rows and headers only contain the interactive elements
import { useMediaQuery } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { Link, useSearchParams } from "wouter";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { changed } from "../../shared/search-part.ts";
import type { SortBy } from "./order-sets.ts";
import { shownValue } from "./shown-value.ts";
import "./set-rows.css";
import { zoneAddress } from "../zones/zone-address.ts";

const columns: readonly { readonly by: SortBy; readonly name: string }[] = [
  { by: "name", name: "Name" },
  { by: "type", name: "Type" },
  { by: "ttl", name: "TTL" },
  { by: "value", name: "Value" },
];

/** Only the rows on the screen are rendered. */
export function SetRows(props: {
  readonly rows: readonly Rrset[];
  readonly zone: RrsetsZone;
  readonly by: SortBy;
  readonly descending: boolean;
  readonly onSort: (by: SortBy) => void;
}) {
  const { rows, zone, by, descending } = props;
  const box = useRef<HTMLDivElement>(null);
  const narrow = useMediaQuery("(max-width: 40rem)", false, { getInitialValueInEffect: false });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (narrow ? 58 : 34),
    overscan: 12,
  });
  return (
    <div className="sets" role="table" aria-label="Record sets" aria-rowcount={rows.length + 1} ref={box}>
      <div role="rowgroup" className="sets-head">
        <div role="row" className="set-row">
          {columns.map((column) => (
            <div
              key={column.by}
              role="columnheader"
              aria-sort={column.by !== by ? "none" : descending ? "descending" : "ascending"}
              className={`set-${column.by}`}
            >
              <button type="button" className="sort" onClick={() => props.onSort(column.by)}>
                {column.name}
                <span aria-hidden>{column.by !== by ? "" : descending ? " ↓" : " ↑"}</span>
              </button>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, size, start }) => {
          const set = rows[index];
          return (
            set && (
              <div
                key={set.id}
                role="row"
                aria-rowindex={index + 2}
                className="set-row"
                style={{
                  position: "absolute",
                  top: 0,
                  left: 0,
                  right: 0,
                  height: size,
                  transform: `translateY(${start}px)`,
                }}
              >
                <Cells set={set} zone={zone} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function Cells({ set, zone }: { readonly set: Rrset; readonly zone: RrsetsZone }) {
  const [query] = useSearchParams();
  const target = `${zoneAddress(zone.name)}?${changed(query, { edit: set.id })}`;
  const name = nameToUnicode(set.name);
  const labels = Object.entries(set.labels).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
  return (
    <>
      <div role="cell" className="set-name">
        <Link href={target} aria-label={`${name} ${set.type}`} className="set-link">
          {name}
        </Link>
      </div>
      <div role="cell" className="set-type">
        {set.type}
      </div>
      <div role="cell" className="set-ttl quiet">
        {set.ttl ?? "default"}
      </div>
      <div role="cell" className="set-value">
        {set.records.map(({ value, comment }) => (
          <span key={value} className="set-one">
            <span className="mono">{shownValue(value)}</span>
            {comment && <span className="quiet"> {comment}</span>}
          </span>
        ))}
        {labels.map((label) => (
          <span key={label} className="set-mark">
            {label}
          </span>
        ))}
        {set.protection.change && <span className="set-mark">protected</span>}
      </div>
    </>
  );
}
